'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { conductorMs } from '#app/(portal)/executions/conductor.ts';

/** The AMQP channel of a VM, which is null if the VM uses HTTPS, and the connection to the broker, kept up to date. */
export function useChannel(vmId: string) {
  const trpc = useTRPC();
  const options = { refetchInterval: conductorMs };
  return {
    channel: useQuery(trpc.executions.channel.queryOptions({ vmId }, options)),
    conductor: useQuery(trpc.executions.conductor.queryOptions(undefined, options)),
  };
}
