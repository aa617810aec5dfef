-- Atomic: a bundle that its worker still holds becomes claimable at once with its attempt unspent, or is dropped when
-- its job is being cancelled, or is acknowledged when all its requests are recorded.
-- ARGV: worker, lane, entry, attempt, job id, bundle id, ids of the bundle's requests
local worker, stream, entry, attempt, job, bundle = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
if #call('XPENDING', stream, GROUP, entry, entry, 1, worker) == 0 then
  pardon(stream, entry, attempt)
  return 0
end
local remaining, model = bundle_state(job, bundle)
if not remaining then return call('XACK', stream, GROUP, entry) end
local unrecorded = 0
for i = 7, #ARGV do
  if call('EXISTS', key('response', job) .. ARGV[i]) == 0 then unrecorded = unrecorded + 1 end
end
if unrecorded == 0 then
  call('XACK', stream, GROUP, entry)
  close_bundle(job, bundle, model)
  finish_if_all_done(job)
elseif call('HGET', key('job', job), 'status') == 'cancelling' then
  call('XACK', stream, GROUP, entry)
  drop_bundle(job, bundle, remaining, model)
else
  call('XCLAIM', stream, GROUP, worker, 0, entry, 'IDLE', 1000000000, 'RETRYCOUNT', attempt - 1, 'JUSTID')
  end_lease(job, bundle, model)
end
return 1
