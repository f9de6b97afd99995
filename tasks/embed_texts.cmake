# Writes a C file that holds the texts of a folder as an array of struct prompt_text, so that the program needs no data
# files. Run as: cmake -DOUT=<file.c> -DDIR=<folder> -DARRAY=<name> -P embed_texts.cmake
# The leading "# ..." lines of a .txt file say where it is from and are left out, as is the newline at its end.
cmake_minimum_required(VERSION 3.25)

file(GLOB names RELATIVE ${DIR} ${DIR}/*.txt ${DIR}/*.json)
list(SORT names)
set(arrays "")
set(rows "")
foreach(file ${names})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${DIR}/${file} text)
  string(REGEX REPLACE "\n$" "" text "${text}")
  if(file MATCHES "\\.txt$")
    while(text MATCHES "^# ")
      string(FIND "${text}" "\n" end)
      math(EXPR end "${end} + 1")
      string(SUBSTRING "${text}" ${end} -1 text)
    endwhile()
  endif()
  string(HEX "${text}" hex)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const unsigned char text_${name}[] = {${bytes}0};\n\n")
  string(APPEND rows "    {\"${name}\", (const char *)text_${name}},\n")
endforeach()
file(WRITE ${OUT}.new "/* Made by tasks/embed_texts.cmake. */
#include \"tasks/rows.h\"

${arrays}const struct prompt_text ${ARRAY}[] = {
${rows}    {0, 0},
};
")
file(COPY_FILE ${OUT}.new ${OUT} ONLY_IF_DIFFERENT)
file(REMOVE ${OUT}.new)
