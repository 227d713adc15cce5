'use client';

import { BrokerBanner } from '#app/(portal)/executions/broker-banner.tsx';
import { useChannel } from './use-channel.ts';

/** Says why the executions of this VM wait if it uses AMQP and the broker cannot be used; otherwise renders nothing. */
export function ChannelBanner({ vmId }: { vmId: string }) {
  const { channel, conductor } = useChannel(vmId);
  if (!channel.data || !conductor.data) return null;
  return <BrokerBanner report={conductor.data} boundAt={channel.data.boundAt} />;
}
