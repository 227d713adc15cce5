'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import type { ExtensionView } from '#server/domain/goal-states/index.ts';
import type { PastGoalState, VmFacts } from '../../vm-data.ts';

/** The current state of the VM and the extension, including changes that other people make during the edit. */
export interface LiveExtension {
  goalState: PastGoalState;
  /** The current declaration of the extension; undefined for a new extension. */
  extension: ExtensionView | undefined;
  gone: 'vm' | 'extension' | null;
  hold: VmFacts['hold'];
  /** Increases whenever the goal state is reloaded, such as after a change to the VM or a handler. */
  stamp: number;
}

export interface EditorStart {
  vm: VmFacts;
  /** The current declaration; null for a new extension. */
  extension: ExtensionView | null;
  /** The goal state that the page started from. */
  goalState: PastGoalState;
}

/**
 * Returns the VM's goal state and the extension, keeps them up to date, and reports whether the VM or the extension was
 * deleted.
 */
export function useLive({ vm, extension, goalState }: EditorStart): LiveExtension {
  const trpc = useTRPC();
  const explain = useProblem();
  const isGone = (error: unknown) => error !== null && explain(error).status === 404;
  const facts = useQuery({ ...trpc.vms.get.queryOptions({ vmId: vm.id }), initialData: vm, retry: false });
  const states = useQuery({
    ...trpc.goalStates.list.queryOptions({ vmId: vm.id, limit: 1 }),
    initialData: { items: [goalState], nextCursor: null },
    retry: false,
  });
  const declared = useQuery({
    ...trpc.goalStates.getExtension.queryOptions({ vmId: vm.id, name: extension?.name ?? '' }),
    enabled: extension !== null,
    ...(extension !== null && { initialData: extension }),
    retry: false,
  });
  return {
    goalState: states.data.items[0] ?? goalState,
    extension: declared.data,
    gone: isGone(facts.error) ? 'vm' : extension !== null && isGone(declared.error) ? 'extension' : null,
    hold: facts.data.hold,
    stamp: states.dataUpdatedAt,
  };
}
