'use client';

import { useCallback, useEffect, useRef, useState } from 'react';
import type { ExplainedProblem } from '#app/_lib/problem.ts';
import { useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import type { PlanView, RolloutView } from '#server/domain/rollouts/index.ts';
import { canonical } from '../../vms/[vmId]/extensions/_editor/draft.ts';
import type { SentDefinition, SentFilter } from './definition.ts';

/** Milliseconds to wait after the last change before planning. */
const pause = 600;
/** Seconds for which the portal holds its answer while it plans. */
const wait = 20;

type Sent = SentDefinition<SentFilter>;

export interface PlannedDraft {
  /** The stored draft; null before the first plan. */
  rollout: RolloutView | null;
  /** The last plan, which may be older than the form. */
  plan: PlanView | null;
  phase: 'idle' | 'saving' | 'planning';
  problem: ExplainedProblem | null;
  /** Whether the plan matches the form. */
  settled: boolean;
  /** Plans again, for example after VMs have changed. */
  again(): void;
  /** Applies a response of the portal, such as the reason why a start was rejected. */
  take(rollout: RolloutView): void;
}

interface Outcome {
  plan: PlanView | null;
  problem: ExplainedProblem | null;
  about: string;
}

/**
 * Stores the rollout as a draft and plans it shortly after the last change. Does not use a query, because a query's
 * cache would keep the secrets of the change.
 */
export function useDraftPlan(definition: Sent | null, stored: RolloutView | null = null): PlannedDraft {
  const [first] = useState(() =>
    stored === null || stored.kind === 'bulk' || definition === null ? '' : canonical(definition),
  );
  const client = useTRPCClient();
  const explain = useProblem();
  const [rollout, setRollout] = useState(stored);
  const [phase, setPhase] = useState<PlannedDraft['phase']>('idle');
  const [outcome, setOutcome] = useState<Outcome>({ plan: null, problem: null, about: '' });
  const [round, setRound] = useState(0);
  // The text contains the typed secrets, but stays in the memory of this page.
  const about = definition === null ? '' : `${round} ${canonical(definition)}`;
  const latest = useRef({ definition, about, explain });
  const current = useRef({ rollout: stored, saved: first });
  useEffect(() => {
    latest.current = { definition, about, explain };
  });

  const once = useCallback(async () => {
    const { definition, about, explain } = latest.current;
    if (definition === null) return;
    const isNewer = () => latest.current.about !== about;
    try {
      setPhase('saving');
      const rollout = await save(client, current.current, definition);
      setRollout(rollout);
      if (isNewer()) return;
      setPhase('planning');
      const keeps = about.startsWith('0 ');
      const planned = await planOf(client, rollout, { keeps, isNewer });
      current.current.rollout = planned.rollout;
      setRollout(planned.rollout);
      if (!isNewer()) setOutcome({ plan: planned.plan, problem: null, about });
    } catch (error) {
      if (!isNewer()) setOutcome(({ plan }) => ({ plan, problem: explain(error), about }));
    }
  }, [client]);

  useSerialRuns(once, about, () => setPhase('idle'));

  return {
    rollout,
    plan: outcome.plan,
    phase,
    problem: outcome.problem,
    settled: about !== '' && outcome.about === about && outcome.plan !== null && outcome.problem === null,
    again: () => setRound((before) => before + 1),
    take: (next) => {
      current.current.rollout = next;
      setRollout(next);
    },
  };
}

/**
 * Runs shortly after `about` changed, unless it is empty. One run at a time, so that a draft is created once and its
 * revision is known; another run follows if `about` changes meanwhile.
 */
function useSerialRuns(once: () => Promise<void>, about: string, onIdle: () => void): void {
  const latest = useRef({ about, onIdle });
  const isRunning = useRef(false);
  useEffect(() => {
    latest.current = { about, onIdle };
  });
  useEffect(() => {
    if (about === '') return;
    const run = async () => {
      if (isRunning.current) return;
      isRunning.current = true;
      for (let done = ''; latest.current.about !== '' && latest.current.about !== done; ) {
        done = latest.current.about;
        await once();
      }
      isRunning.current = false;
      latest.current.onIdle();
    };
    const timer = setTimeout(() => void run(), pause);
    return () => clearTimeout(timer);
  }, [about, once]);
}

type Client = ReturnType<typeof useTRPCClient>;

interface SavedDraft {
  rollout: RolloutView | null;
  /** The stored definition as text; empty before the first save. */
  saved: string;
}

/**
 * Creates the draft, or updates it if it differs. The portal rejects the update of a draft that was edited elsewhere
 * since the form read it, also if the form is unchanged.
 */
async function save(client: Client, state: SavedDraft, definition: Sent): Promise<RolloutView> {
  const text = canonical(definition);
  if (state.rollout !== null && state.saved === text) {
    const stored = await client.rollouts.get.query({ id: state.rollout.id });
    if (stored.revision === state.rollout.revision) return stored;
  }
  const given = definition as Parameters<Client['rollouts']['create']['mutate']>[0];
  const rollout =
    state.rollout === null
      ? await client.rollouts.create.mutate(given)
      : await client.rollouts.update.mutate({
          id: state.rollout.id,
          revision: state.rollout.revision,
          definition: given,
        });
  state.rollout = rollout;
  state.saved = text;
  return rollout;
}

/**
 * Returns the plan of a draft. Creates it and waits for it, unless the form changes meanwhile. `keeps`: an existing
 * plan is kept, because its approvals belong to it.
 */
async function planOf(
  client: Client,
  stored: RolloutView,
  { keeps, isNewer }: { keeps: boolean; isNewer(): boolean },
): Promise<{ rollout: RolloutView; plan: PlanView | null }> {
  const { id } = stored;
  let rollout = keeps && stored.state === 'planned' ? stored : await client.rollouts.plan.mutate({ id, wait });
  while (rollout.state === 'planning' && !isNewer()) rollout = await client.rollouts.get.query({ id, wait });
  if (rollout.state !== 'planned') return { rollout, plan: null };
  return { rollout, plan: await client.rollouts.planned.query({ id }) };
}
