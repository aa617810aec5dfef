-- Atomic: failure responses go, and the answers that are named, and their requests are queued again, with those that a
-- cancelled job left unanswered, in a job that is in progress again. A named answer in whose place another is stays.
-- ARGV: job id, limit, token of this call (repeated when its reply was lost), data set digest, a JSON object of cursors
-- by request id: the answers to be taken back; then for each bundle: id, number of requests, model, lane, image or '',
-- payload, request ids
local job, limit, token = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local status = call('HGET', key('job', job), 'status')
if status and call('HGET', key('job', job), 'reopened_by') == token then return 'reopened' end
if status ~= 'completed' and status ~= 'cancelled' then return status or 'missing' end

local named = cjson.decode(ARGV[5])
local bundles, requests, taken, i = {}, 0, {completed = 0, failed = 0}, 6
while i <= #ARGV do
  local bundle = {id = ARGV[i], model = ARGV[i + 2], lane = ARGV[i + 3], image = ARGV[i + 4], payload = ARGV[i + 5],
    back = {}, open = 0}
  local last = i + 5 + tonumber(ARGV[i + 1])
  for r = i + 6, last do
    local outcome, cursor = unpack(call('HMGET', key('response', job) .. ARGV[r], 'outcome', 'cursor'))
    if outcome == 'failed' or (outcome and named[ARGV[r]] == cursor) then
      bundle.back[#bundle.back + 1] = ARGV[r]
      taken[outcome] = taken[outcome] + 1
      outcome = nil
    end
    if not outcome then bundle.open = bundle.open + 1 end
  end
  requests = requests + bundle.open
  bundles[#bundles + 1] = bundle
  i = last + 1
end
if requests == 0 then return 'nothing' end
local refused = no_room_for(job, requests, limit)
if refused then return refused end

call('HINCRBY', key('job', job), 'retries', 1)
for _, bundle in ipairs(bundles) do
  for _, request in ipairs(bundle.back) do
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
for outcome, amount in pairs(taken) do
  if amount > 0 then call('HINCRBY', key('job', job), outcome, -amount) end
end
-- A job that was cancelled before all of it was queued has neither total, digest nor beginning.
local total = number(job, 'completed') + number(job, 'failed') + requests
call('HSET', key('job', job), 'reserved', requests, 'total', total, 'reopened_by', token)
if ARGV[4] ~= '' then call('HSET', key('job', job), 'dataset_digest', ARGV[4]) end
call('HSETNX', key('job', job), 'in_progress_at', now())
call('HDEL', key('job', job), 'finished_at', 'progressed', 'progressed_at')
set_status(job, 'in_progress')
return 'reopened'
