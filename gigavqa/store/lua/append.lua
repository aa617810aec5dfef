-- Atomic: each bundle enters its lane with its payload once, however often the call is repeated. Failures of a retry's
-- requests go before, and the answers that are named; those of its requests that have a response then are not asked.
-- ARGV: job id, a JSON object of cursors by request id (the answers that a retry takes back), '' where it is none; then
-- for each bundle: id, number of requests, model, lane, image or '', payload, and the ids of a retry's requests
local job, named = ARGV[1], ARGV[2] ~= '' and cjson.decode(ARGV[2])
local status = call('HGET', key('job', job), 'status')
if status ~= 'validating' then return status end

local function take_back(request)
  local response = key('response', job) .. request
  local outcome, cursor = unpack(call('HMGET', response, 'outcome', 'cursor'))
  if not outcome then return true end
  if outcome ~= 'failed' and named[request] ~= cursor then return false end
  call('XDEL', key('results', job), cursor)
  call('HDEL', key('texts', job), request)
  count_failure(job, response, -1)
  call('UNLINK', response)
  call('HINCRBY', key('job', job), outcome, -1)
  return true
end

local i = 3
while i <= #ARGV do
  local bundle, requests, model, lane, image, payload = unpack(ARGV, i, i + 5)
  local last = i + 5 + (named and tonumber(requests) or 0)
  if call('HEXISTS', key('bundles', job), bundle) == 0 then
    local open = named and 0 or requests
    for r = i + 6, last do
      if take_back(ARGV[r]) then open = open + 1 end
    end
    if open == 0 then
      set_remaining(job, bundle, 0, model)
    else
      enqueue_bundle(job, bundle, open, model, lane, image, payload)
    end
  end
  i = last + 1
end
return status
