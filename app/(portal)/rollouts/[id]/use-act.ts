'use client';

import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { rolloutHref, type ShownRollout } from '../rollout-data.ts';
import { haltsOf, type ShownAct } from './shown-acts.ts';

type Client = ReturnType<typeof useTRPCClient>['rollouts'];
type Given = { rollout: ShownRollout; text: string; ring: number };

const made = async (asked: Promise<{ id: string }>) => ({ goTo: rolloutHref((await asked).id) });
const reasonOf = (text: string) => (text === '' ? {} : { reason: text });
const planOf = ({ plan }: ShownRollout): string => plan?.hash ?? '';

/** What each act asks the portal to do. `goTo`: the page that shows the result, if it is another one. */
const doers: Readonly<Record<ShownAct['name'], (client: Client, given: Given) => Promise<unknown>>> = {
  plan: (client, { rollout: { id } }) => client.plan.mutate({ id }),
  start: (client, { rollout }) => client.start.mutate({ id: rollout.id, plan: planOf(rollout) }),
  approve: (client, { rollout, text }) =>
    client.approve.mutate({ id: rollout.id, plan: planOf(rollout), ...(text !== '' && { note: text }) }),
  reject: (client, { rollout, text }) => client.reject.mutate({ id: rollout.id, plan: planOf(rollout), reason: text }),
  approveRing: (client, { rollout, ring, text }) =>
    client.approve.mutate({ id: rollout.id, plan: planOf(rollout), ring, ...(text !== '' && { note: text }) }),
  rejectRing: (client, { rollout, ring, text }) =>
    client.reject.mutate({ id: rollout.id, plan: planOf(rollout), ring, reason: text }),
  unschedule: (client, { rollout: { id }, text }) => client.unschedule.mutate({ id, ...reasonOf(text) }),
  pause: (client, { rollout: { id }, text }) => client.pause.mutate({ id, ...reasonOf(text) }),
  resume: (client, { rollout, text }) =>
    client.resume.mutate({ id: rollout.id, overrule: haltsOf(rollout), ...reasonOf(text) }),
  advance: (client, { rollout: { id }, ring, text }) => client.advance.mutate({ id, ring, reason: text }),
  abort: (client, { rollout: { id }, text }) => client.abort.mutate({ id, ...reasonOf(text) }),
  close: (client, { rollout: { id }, text }) => client.close.mutate({ id, ...reasonOf(text) }),
  revert: (client, { rollout: { id } }) => made(client.revert.mutate({ id })),
  revertRing: (client, { rollout: { id }, ring }) => made(client.revert.mutate({ id, ring })),
  revertFailed: (client, { rollout: { id } }) => made(client.revert.mutate({ id, only: 'failed' })),
  retryFailed: (client, { rollout: { id } }) => made(client.retry.mutate({ id, of: 'failed' })),
  retryUnreached: (client, { rollout: { id } }) => made(client.retry.mutate({ id, of: 'unreached' })),
  retrySkipped: (client, { rollout: { id } }) => made(client.retry.mutate({ id, of: 'skipped' })),
  delete: async (client, { rollout: { id } }) => {
    await client.remove.mutate({ id });
    return { goTo: '/rollouts' };
  },
};

/** Returns a function that performs an act and then shows its result. */
export function useAct(rollout: ShownRollout): (act: ShownAct, text: string) => Promise<void> {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const router = useRouter();
  return async (act, text) => {
    try {
      const result = await doers[act.name](client.rollouts, { rollout, text, ring: act.ring ?? 0 });
      if (typeof result === 'object' && result !== null && 'goTo' in result) router.push(String(result.goTo));
    } finally {
      if (act.name !== 'delete') void queries.invalidateQueries(trpc.rollouts.pathFilter());
    }
  };
}
