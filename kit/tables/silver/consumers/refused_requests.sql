-- One row per entry that reports a request refused as busy (flow-control or thread-pool-busy) or timed out at a client (late): pull (about a pull or
-- another request that is not a send). What clients print around the refusal of what is no send: client/impl/consumer, MQClientInstance, tools/admin, the
-- listeners of rocketmq-spring, every other method of MQClientAPIImpl; no sender's frame has one. A send has DefaultMQProducerImpl.send in its trace.
with refused as (
  select file, source, line, ts, message, trace,
    array_contains(events, 'flow-control') or array_contains(events, 'thread-pool-busy') as busy,
    array_contains(events, 'client-wait-timeout') or array_contains(events, 'client-call-timeout')
      or array_contains(events, 'client-async-timeout') as late,
    concat_ws('\n', message, trace) as text
  from entries
  where known in ('flow-control', 'thread-pool-busy', 'client-wait-timeout', 'client-call-timeout', 'client-async-timeout', '*')
)
select file, source, line, ts, message, trace, busy, late,
  not contains(text, 'DefaultMQProducerImpl.send') and (
    text rlike 'execute the pull request exception|pullKernelImpl|PullCallback|PullMessageService|popMessage|updateConsumeOffsetToBroker|getConsumerIdListByGroup|HeartBeat|heart beat|lockBatchMQ|DefaultMQPushConsumerImpl[.]start|ListenerContainerConfiguration|MQAdminExt'
    or text rlike 'MQClientAPIImpl[.][a-z]' and not text rlike 'MQClientAPIImpl[.](?:sendMessage|processSendResponse|onExceptionImpl|consumerSendMessageBack)'
  ) as pull
from refused
where busy or late
