-- Atomic: each bundle enters its lane with its payload once, however often the call is repeated.
-- ARGV: job id, then for each bundle: id, number of requests, model, lane, image or '', payload
local job = ARGV[1]
local status = call('HGET', key('job', job), 'status')
if status ~= 'validating' then return status end
for i = 2, #ARGV, 6 do
  if call('HEXISTS', key('bundles', job), ARGV[i]) == 0 then
    enqueue_bundle(job, ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
  end
end
return status
