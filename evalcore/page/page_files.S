/* The page's style and script as bytes, each with a NUL behind it. The assembler's include path is this
 * folder. */
#define EMBED(name, file)                                                                                             \
    .globl name;                                                                                                      \
    name:                                                                                                             \
    .incbin file;                                                                                                     \
    .byte 0
    .section .rodata
EMBED(page_style, "page.css")
EMBED(page_script, "page.js")
    .section .note.GNU-stack, "", @progbits
