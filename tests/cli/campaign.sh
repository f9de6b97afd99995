# Faults in a small sweep, one a run, drawn from a seed: CAMPAIGN_RUNS of them (default 180), from CAMPAIGN_SEED (default 1).
# After each the same command has to finish with the results of an undisturbed sweep, and decode nothing twice.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "python3 drives the campaign"
can_fault || skip "kv_fault.so is not beside the program, or cannot be preloaded"
exec python3 "$here/campaign.py" "$program" "$fault"
