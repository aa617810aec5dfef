-- Atomic: an entry whose bundle cannot be read leaves its lane, and is counted. The bundle stays one of its job, so that
-- it is found and named (`gigavqa admin fsck`), goes with the job's cancellation, and comes back with a retry.
-- ARGV: worker, lane, entry, job id, bundle id
local worker, stream, entry, job, bundle = unpack(ARGV)
if #call('XPENDING', stream, GROUP, entry, entry, 1, worker) == 0 then return end
call('XACK', stream, GROUP, entry)
local remaining, model = bundle_state(job, bundle)
if not remaining then return end
end_lease(job, bundle, model)
tally('unreadable ' .. model, 1)
