-- Atomic: of each response the first to its request is kept, counted, told to watchers and to the sink; with its last
-- one a bundle is acknowledged and a job completed. Later responses, and those of ended jobs, change nothing.
-- ARGV: job id, a JSON list with for each response: request id, bundle id or '', lane, entry, 'completed' or 'failed',
-- model, the sums that it adds to by name, seconds of rendering, image, keys of its rasters, metadata in pairs; then each
-- response, packed. Returns one 0 or 1 a response.
local job = ARGV[1]
local status = call('HGET', key('job', job), 'status')
local open = status and not FINAL[status]
local kept, accepted, outcomes, sums, totals, rasters, bundles = {}, 0, {}, {}, {}, {}, {}
local slowest, slowest_image = 0, ''
local response_prefix, results, texts, unsunk = key('response', job), key('results', job), key('texts', job), key('unsunk')

local sinks = hidden(job) ~= 'chat' -- which is deleted before a part would be written

local function add(counts, name, amount)
  counts[name] = (counts[name] or 0) + amount
end

local function keep(told, packed)
  local request, bundle, lane, entry, outcome, model, took, seconds, image, shown, metadata = unpack(told)
  local response = response_prefix .. request
  if call('EXISTS', response) == 1 then return 0 end
  local cursor = call('XADD', results, '*', 'request', request)
  call('HSET', response, 'cursor', cursor, 'outcome', outcome, unpack(metadata))
  call('HSET', texts, request, packed)
  if sinks then call('XADD', unsunk, '*', 'job', job, 'request', request, 'cursor', cursor) end
  if outcome == 'failed' then count_failure(job, response, 1) end
  accepted = accepted + 1
  add(outcomes, outcome, 1)
  add(totals, outcome .. ' ' .. model, 1)
  for name, amount in pairs(took) do
    add(sums, name, amount)
    add(totals, name .. ' ' .. model, amount)
  end
  for _, raster in ipairs(shown) do rasters[#rasters + 1] = raster end
  if #shown > 0 and seconds > slowest then slowest, slowest_image = seconds, image end
  bundles[bundle] = bundles[bundle] or {lane = lane, entry = entry, done = 0}
  bundles[bundle].done = bundles[bundle].done + 1
  return 1
end

for i, told in ipairs(cjson.decode(ARGV[2])) do
  kept[i] = open and keep(told, ARGV[i + 2]) or 0
end
if accepted == 0 then return kept end

for outcome, number in pairs(outcomes) do
  call('HINCRBY', key('job', job), outcome, number)
  call('HINCRBY', key('recorded'), outcome, number)
end
for name, amount in pairs(totals) do tally(name, amount) end
count_usage(job, sums, rasters, slowest, slowest_image)
release(job, accepted)

for bundle, told in pairs(bundles) do
  local remaining, model = bundle_state(job, bundle)
  if remaining and remaining <= told.done then
    close_bundle(job, bundle, model)
    call('XACK', told.lane, GROUP, told.entry)
  elseif remaining then
    set_remaining(job, bundle, remaining - told.done, model)
  end
end

local n = call('HMGET', key('job', job), 'total', 'completed', 'failed', 'progressed', 'progressed_at')
local done, total, at = tonumber(n[2]) + tonumber(n[3]), tonumber(n[1]), now()
local step = math.max(1, math.floor(total / 100))
if done == total or done - tonumber(n[4] or 0) >= step or at - tonumber(n[5] or 0) > PROGRESS_MICROSECONDS then
  call('HSET', key('job', job), 'progressed', done, 'progressed_at', at)
  emit(job, 'progress')
end
finish_if_all_done(job)
tell_listener(job)
return kept
