-- One row per entry with a pull, or another request that is no send, refused as busy, of the two earliest. broker/processor/PullMessageProcessor.rejectRequest.
select ts, file, line, message, trace
from refused_requests
where busy and pull
order by ts nulls first, file, line limit 2
