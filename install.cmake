# cmake --install build --prefix DIR: the program, its man page, shell completion, run files, documentation, and the data of
# the Chinese metrics where the build folder has them (README, Systems and dependencies). Nothing that is installed names DIR, so the
# tree may be moved.
include(GNUInstallDirs)

# A wheel has the components program and library (pyproject.toml).
install(TARGETS kveval RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(DIRECTORY runs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kveval/runs COMPONENT program)
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR}/kveval COMPONENT program OPTIONAL)
install(FILES README.md CHANGELOG.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# libanswer_check for other programs: --component library, with --component header what they compile with. Not among the
# rest, which `./kv build` leaves there for.
if(TARGET answer_check_shared)
  install(TARGETS answer_check_shared EXCLUDE_FROM_ALL
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT header)
  install(FILES answer_check/capi/answer_check_c.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT header EXCLUDE_FROM_ALL)
endif()

# The program writes these itself, from its tables (kveval completion).
foreach(page
  "bash|${CMAKE_INSTALL_DATADIR}/bash-completion/completions/kveval"
  "zsh|${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_kveval"
  "fish|${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/kveval.fish"
  "man|${CMAKE_INSTALL_MANDIR}/man1/kveval.1")
  string(REPLACE "|" ";" page "${page}")
  list(GET page 0 kind)
  list(GET page 1 path)
  get_filename_component(folder ${path} DIRECTORY)
  get_filename_component(name ${path} NAME)
  install(CODE "
    set(written \"${PROJECT_BINARY_DIR}/install/${kind}/${name}\")
    file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/install/${kind}\")
    execute_process(COMMAND \"$<TARGET_FILE:kveval>\" completion ${kind} OUTPUT_FILE \"\${written}\"
      COMMAND_ERROR_IS_FATAL ANY)
    file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${folder}\" TYPE FILE FILES \"\${written}\")")
endforeach()
