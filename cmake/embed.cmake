# tril_embed(target header namespace function files...)
#
# Compiles text files into a library: std::string_view FUNCTION(std::string_view name), which the header declares in the
# namespace, finds them by their name.
function(tril_embed target header namespace function)
  set(cases "")
  foreach(file IN LISTS ARGN)
    file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${file} text)
    get_filename_component(name ${file} NAME)
    string(APPEND cases "  if (name == \"${name}\")\n    return R\"tril_embedded(${text})tril_embedded\";\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  string(CONCAT source "// Made by cmake/embed.cmake.\n#include <string_view>\n\n#include \"${header}\"\n\n"
         "namespace ${namespace} {\n\nstd::string_view ${function}(std::string_view name) {\n" "${cases}"
         "  return {};\n}\n\n}  // namespace ${namespace}\n")
  set(path ${PROJECT_BINARY_DIR}/embedded/${function}.cpp)
  file(CONFIGURE OUTPUT ${path} CONTENT "@source@" @ONLY)
  target_sources(${target} PRIVATE ${path})
endfunction()
