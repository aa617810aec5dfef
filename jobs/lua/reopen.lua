-- Atomic: failure responses go, and their requests are queued again, with those that a cancelled job left
-- unanswered, in a job that is in progress again.
-- ARGV: job id, limit, token of this call (repeated when its reply was lost), data set digest, then for each bundle: id,
-- number of requests, model, lane, image or '', payload, request ids
local job, limit, token = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local status = call('HGET', key('job', job), 'status')
if status and call('HGET', key('job', job), 'reopened_by') == token then return 'reopened' end
if status ~= 'completed' and status ~= 'cancelled' then return status or 'missing' end

local bundles, requests, failures, i = {}, 0, 0, 5
while i <= #ARGV do
  local bundle = {id = ARGV[i], model = ARGV[i + 2], lane = ARGV[i + 3], image = ARGV[i + 4], payload = ARGV[i + 5],
    failed = {}, open = 0}
  local last = i + 5 + tonumber(ARGV[i + 1])
  for r = i + 6, last do
    local outcome = call('HGET', key('response', job) .. ARGV[r], 'outcome')
    if outcome == 'failed' then bundle.failed[#bundle.failed + 1] = ARGV[r] end
    if outcome ~= 'completed' then bundle.open = bundle.open + 1 end
  end
  requests, failures = requests + bundle.open, failures + #bundle.failed
  bundles[#bundles + 1] = bundle
  i = last + 1
end
if requests == 0 then return 'nothing' end
local refused = no_room_for(job, requests, limit)
if refused then return refused end

call('HINCRBY', key('job', job), 'retries', 1)
for _, bundle in ipairs(bundles) do
  for _, request in ipairs(bundle.failed) do
    local response = key('response', job) .. request
    call('XDEL', key('results', job), call('HGET', response, 'cursor'))
    call('HDEL', key('texts', job), request)
    count_failure(job, response, -1)
    call('UNLINK', response)
  end
  if bundle.open > 0 then
    enqueue_bundle(job, bundle.id, bundle.open, bundle.model, bundle.lane, bundle.image, bundle.payload)
  end
end
take_room(job, requests)
call('HSET', key('job', job), 'failed', number(job, 'failed') - failures)
-- A job that was cancelled before all of it was queued has neither total, digest nor beginning.
local total = number(job, 'completed') + number(job, 'failed') + requests
call('HSET', key('job', job), 'reserved', requests, 'total', total, 'reopened_by', token)
if ARGV[4] ~= '' then call('HSET', key('job', job), 'dataset_digest', ARGV[4]) end
call('HSETNX', key('job', job), 'in_progress_at', now())
call('HDEL', key('job', job), 'finished_at', 'progressed', 'progressed_at')
set_status(job, 'in_progress')
return 'reopened'
