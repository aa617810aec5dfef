-- Atomic: bundles of a job that is being cancelled go, unless a worker holds them.
-- ARGV: job id, bundle ids
local job = ARGV[1]
for i = 2, #ARGV do
  if call('HGET', key('job', job), 'status') ~= 'cancelling' then return end
  local remaining, model = bundle_state(job, ARGV[i])
  if remaining and call('SISMEMBER', key('leased', job), ARGV[i]) == 0 then
    drop_bundle(job, ARGV[i], remaining, model)
  end
end
