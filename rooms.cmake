# The house. A room is a folder of source code; this table is the only place that says which rooms there are, which
# of their headers are doors, and which rooms lie below a room, so that it may include their doors and is linked with
# them. The build makes one static library of each room from it, of those of kernels/ one together (CMakeLists.txt), and
# tests/layers.cmake checks every #include against it.
#
#   - Inside its own room a file includes what it likes; nothing includes a header of another room that is no door.
#   - Every room but those of kernels/ may include evalcore/base. A header among the rooms ("answer_check.h") stands
#     for that file alone: the graders include it to check their own declarations.
#   - Code under another top folder may include only the headers in front_doors. `include_exceptions` lists further ones, each for
#     one room.
#   - A room stands below those that may enter it: there are no circles among rooms.
#
# Adding a room: its row here, and a first line in its door that says what the room is for.

set(front_doors
  kernels/backend.h kernels/limits.h
  engine/engine.h engine/policies/policy.h
  tasks/task.h answer_check/answer_check.h code_check/code_check.h)

# Benchmarks measure parts that nobody else looks at; the doctor and `kveval convert gates` look at what a folder holds.
set(include_exceptions
  "evalcore/bench engine/model/model.h"
  "evalcore/bench engine/model/safetensors.h"
  "evalcore/commands engine/model/model_config.h"
  "evalcore/commands engine/model/safetensors.h"
  "evalcore/doctor engine/model/model_config.h"
  "evalcore/doctor engine/model/safetensors.h")

set(rooms
  # room                   | doors                                      | may enter
  "evalcore/base           | *                                          |"

  "kernels                 | backend.h limits.h op_check.h fault.h copy_wide.h topk_params.h keep_params.h philox.h |"
  "kernels/cpu             |                                            | kernels"
  "kernels/cuda/device     | *                                          | kernels"
  "kernels/cuda/linear     | gemm.cuh                                   | kernels/cuda/device"
  "kernels/cuda/attention  |                                            | kernels/cuda/device"
  "kernels/cuda/select     |                                            | kernels/cuda/device kernels"
  "kernels/cuda/cache      |                                            | kernels/cuda/device kernels"
  "kernels/cuda            |                                            | kernels/cuda/linear kernels/cuda/device kernels"

  "answer_check/text       | span.h grade.h response.h latex_clean.h code_points.h value_words.h respell.h answer_object.h |"
  "answer_check/tree       | math_tree.h math_matrix.h                  | answer_check/text"
  "answer_check/read       | math_read.h                                | answer_check/tree answer_check/text"
  "answer_check/number     | number.h ball.h value.h                    | answer_check/tree"
  "answer_check/scalar     | calculus.h scalar.h scalar_build.h         | answer_check/number answer_check/tree"
  "answer_check/equal      | equal.h equal_answer.h                     | answer_check/scalar answer_check/read answer_check/tree answer_check/text"
  "answer_check/textscore  |                                            | answer_check/text answer_check/answer_check.h"
  "answer_check/choice     |                                            | answer_check/text answer_check/answer_check.h"
  "answer_check/strict     | grade_strict.h                             | answer_check/equal answer_check/read answer_check/tree answer_check/text answer_check/answer_check.h"
  "answer_check/compat     |                                            | answer_check/equal answer_check/scalar answer_check/tree answer_check/text answer_check/answer_check.h"
  "answer_check            | answer_check.h                             | answer_check/strict answer_check/compat answer_check/choice answer_check/textscore answer_check/text"
  "answer_check/capi       | answer_check_c.h                           | answer_check"

  "engine/pocket           | pocket.h                                   |"
  "engine/memory           | device.h kvcache.h counting.h              | kernels"
  "engine/text/jinja       | jinja.h                                    |"
  "engine/text             | tokenizer.h chat.h                         | engine/text/jinja"
  "engine/model            | model.h model_config.h safetensors.h       | engine/pocket kernels"
  "engine/policies         | policy.h                                   | engine/model engine/memory engine/pocket kernels"
  "engine                  | engine.h                                   | engine/policies engine/model engine/text engine/memory engine/pocket kernels"

  "code_check              | code_check.h                               |"

  "tasks                   | task.h                                     | answer_check code_check"

  "evalcore/cli            | *                                          |"
  "evalcore/net            | http.h                                     |"
  "evalcore/fetch          | fetch.h                                    | evalcore/net evalcore/cli tasks"
  "evalcore/stats          | stats.h                                    |"
  "evalcore/page           | doc.h svg.h                                |"
  "evalcore/process        | wire.h worker_process.h                    | evalcore/cli"
  "evalcore/store          | run.h run_fields.h grades.h option_grade.h completion_json.h curve_json.h flat_json.h job_key.h journal.h journal_scan.h runfolder.h runlock.h | engine tasks answer_check"
  "evalcore/graders        | grader_pool.h                              | evalcore/process evalcore/store evalcore/cli answer_check"
  "evalcore/runfile        | runfile.h settings.h                       | evalcore/cli engine engine/policies tasks"
  "evalcore/report/data    | report_data.h report_budget.h report_group.h report_merge.h report_steps.h report_match.h report_papers.h report_frontier.h report_curve.h report_samples.h | evalcore/store evalcore/stats engine/policies"
  "evalcore/export         | export.h csv_tables.h                      | evalcore/report/data evalcore/store evalcore/stats evalcore/cli"
  "evalcore/report         | report.h report_parts.h report_series.h    | evalcore/export evalcore/report/data evalcore/page evalcore/store evalcore/cli engine/policies"
  "evalcore/compare        | compare.h                                  | evalcore/report evalcore/report/data evalcore/page evalcore/store evalcore/cli"
  "evalcore/plan           | runplan.h cell_identity.h prompts.h dryrun.h | evalcore/runfile evalcore/store evalcore/stats evalcore/cli engine engine/policies tasks"
  "evalcore/calibration    | calibration.h                              | evalcore/plan evalcore/runfile evalcore/page evalcore/cli engine engine/policies tasks"
  "evalcore/doctor         | doctor.h gpu_table.h                       | evalcore/store evalcore/cli engine engine/model/model_config.h engine/model/safetensors.h kernels answer_check code_check"
  "evalcore/status         | status.h board.h folder_status.h           | evalcore/store evalcore/cli"
  "evalcore/endpoint       | endpoint.h                                 | evalcore/net evalcore/cli"
  "evalcore/sweep          | sweep.h decoder.h decoder_process.h deadline.h forecast.h queue.h replay.h restart_rules.h sweep_options.h sweep_progress.h worker_cores.h | evalcore/endpoint evalcore/report evalcore/status evalcore/plan evalcore/store evalcore/runfile evalcore/process evalcore/cli engine tasks"
  "evalcore/serve          | serve.h                                    | evalcore/sweep evalcore/plan evalcore/store evalcore/runfile evalcore/cli engine engine/policies tasks"
  "evalcore/gate           | gate.h                                     | evalcore/sweep evalcore/status evalcore/plan evalcore/page evalcore/store evalcore/stats evalcore/runfile evalcore/cli engine engine/policies tasks answer_check"
  "evalcore/bench          | bench.h                                    | evalcore/gate evalcore/stats evalcore/cli engine engine/model/model.h engine/model/safetensors.h kernels tasks answer_check"
  "evalcore/commands       | commands.h                                 | evalcore/calibration evalcore/gate evalcore/serve evalcore/sweep evalcore/status evalcore/plan evalcore/compare evalcore/export evalcore/report evalcore/process evalcore/bench evalcore/doctor evalcore/endpoint evalcore/fetch evalcore/runfile evalcore/graders evalcore/store evalcore/cli engine engine/policies engine/model/model_config.h engine/model/safetensors.h kernels tasks answer_check"
  "evalcore                |                                            | evalcore/commands evalcore/graders evalcore/cli")

# read_rooms(): for each row room_NAME_doors and room_NAME_enters; room_names in the table's order.
macro(read_rooms)
  set(room_names)
  foreach(row IN LISTS rooms)
    string(REPLACE "|" ";" columns "${row}")
    list(GET columns 0 room)
    list(GET columns 1 doors)
    list(GET columns 2 enters)
    string(STRIP "${room}" room)
    separate_arguments(doors UNIX_COMMAND "${doors}")
    separate_arguments(enters UNIX_COMMAND "${enters}")
    list(APPEND room_names ${room})
    set(room_${room}_doors ${doors})
    set(room_${room}_enters ${enters})
  endforeach()
endmacro()
