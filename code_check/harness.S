/* The harness as bytes, with a NUL behind it. The assembler's include path is this folder. */
    .section .rodata
    .globl code_harness
code_harness:
    .incbin "harness.py"
    .byte 0
    .section .note.GNU-stack, "", @progbits
