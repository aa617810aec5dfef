-- Atomic: of each response the first to its request is kept, counted, told to watchers and to the sink; with its last
-- one a bundle is acknowledged and a job completed. Later responses, and those of ended jobs, change nothing.
-- ARGV: job id, then for each response: request id, bundle id or '', lane, entry, 'completed' or 'failed', packed
-- response, the four sums that it adds to, seconds of rendering, image, number of rasters, their keys, number of
-- metadata, these. Returns one 0 or 1 a response.
local SUMS = {'prompt_tokens', 'cached_tokens', 'completion_tokens', 'views'}
local job = ARGV[1]
local status = call('HGET', key('job', job), 'status')
local open = status and not FINAL[status]
local kept, accepted, outcomes, sums, rasters, bundles = {}, 0, {}, {}, {}, {}
local slowest, slowest_image = 0, ''
local response_prefix, results, texts, unsunk = key('response', job), key('results', job), key('texts', job), key('unsunk')

local function add(counts, name, amount)
  counts[name] = (counts[name] or 0) + amount
end

local function keep(i, first_key, first_pair, last)
  local request, outcome = ARGV[i], ARGV[i + 4]
  local response = response_prefix .. request
  if call('EXISTS', response) == 1 then return 0 end
  local cursor = call('XADD', results, '*', 'request', request)
  call('HSET', response, 'cursor', cursor, 'outcome', outcome, unpack(ARGV, first_pair, last))
  call('HSET', texts, request, ARGV[i + 5])
  call('XADD', unsunk, '*', 'job', job, 'request', request, 'cursor', cursor)
  if outcome == 'failed' then count_failure(job, response, 1) end
  accepted = accepted + 1
  add(outcomes, outcome, 1)
  for n, name in ipairs(SUMS) do add(sums, name, tonumber(ARGV[i + 5 + n])) end
  for r = first_key, first_pair - 2 do rasters[#rasters + 1] = ARGV[r] end
  local seconds = tonumber(ARGV[i + 10])
  if first_pair - 2 >= first_key and seconds > slowest then slowest, slowest_image = seconds, ARGV[i + 11] end
  local bundle = ARGV[i + 1]
  bundles[bundle] = bundles[bundle] or {lane = ARGV[i + 2], entry = ARGV[i + 3], done = 0}
  bundles[bundle].done = bundles[bundle].done + 1
  return 1
end

local i = 2
while i <= #ARGV do
  local first_key = i + 13
  local first_pair = first_key + tonumber(ARGV[i + 12]) + 1
  local last = first_pair + tonumber(ARGV[first_pair - 1]) - 1
  kept[#kept + 1] = open and keep(i, first_key, first_pair, last) or 0
  i = last + 1
end
if accepted == 0 then return kept end

for outcome, number in pairs(outcomes) do
  call('HINCRBY', key('job', job), outcome, number)
  call('HINCRBY', key('recorded'), outcome, number)
end
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
return kept
