-- Atomic: failure responses are set aside, and their requests are queued again in a job that is in progress again.
-- ARGV: job id, limit, token of this call (repeated when its reply was lost), then for each bundle: id, model, lane, payload, number of requests, request ids
local job, limit, token = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local status = call('HGET', key('job', job), 'status')
if status and call('HGET', key('job', job), 'reopened_by') == token then return 'reopened' end
if status ~= 'completed' then return status or 'missing' end

local bundles, requests, i = {}, 0, 4
while i <= #ARGV do
  local bundle = {id = ARGV[i], model = ARGV[i + 1], lane = ARGV[i + 2], payload = ARGV[i + 3], failed = {}}
  local last = i + 4 + tonumber(ARGV[i + 4])
  for r = i + 5, last do
    if call('HGET', key('response', job) .. ARGV[r], 'outcome') == 'failed' then
      bundle.failed[#bundle.failed + 1] = ARGV[r]
    end
  end
  requests = requests + #bundle.failed
  bundles[#bundles + 1] = bundle
  i = last + 1
end
if requests == 0 then return 'nothing' end
if tonumber(call('GET', key('outstanding')) or 0) + requests > limit then return 'full' end

for _, bundle in ipairs(bundles) do
  for _, request in ipairs(bundle.failed) do
    local response = key('response', job) .. request
    local at = call('HMGET', response, 'cursor', 'part', 'row')
    local text = call('HGET', key('texts', job), request)
    call('RPUSH', key('history', job), text or cjson.encode({part = at[2], row = tonumber(at[3])}))
    call('XDEL', key('results', job), at[1])
    call('HDEL', key('texts', job), request)
    call('UNLINK', response)
  end
  if #bundle.failed > 0 then
    enqueue_bundle(job, bundle.id, #bundle.failed, bundle.model, bundle.lane, bundle.payload)
  end
end
call('INCRBY', key('outstanding'), requests)
call('HINCRBY', key('job', job), 'failed', -requests)
call('HSET', key('job', job), 'reserved', requests, 'reopened_by', token)
call('HDEL', key('job', job), 'finished_at', 'progressed', 'progressed_at')
set_status(job, 'in_progress')
return 'reopened'
