/* The embedded model's files as bytes. The assembler's include path is this folder. */
#define EMBED(name, file)                                                                                             \
    .balign 64;                                                                                                       \
    .globl name, name##_end;                                                                                          \
    name:                                                                                                             \
    .incbin file;                                                                                                     \
    name##_end:                                                                                                       \
    .byte 0
    .section .rodata
EMBED(pocket_model_data, "model.safetensors")
EMBED(pocket_config_data, "config.json")
EMBED(pocket_tokenizer_data, "tokenizer.json")
EMBED(pocket_cr2_data, "dms_cr2.safetensors")
EMBED(pocket_cr4_data, "dms_cr4.safetensors")
EMBED(pocket_cr8_data, "dms_cr8.safetensors")
    .section .note.GNU-stack, "", @progbits
