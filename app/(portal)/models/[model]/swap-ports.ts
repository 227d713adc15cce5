import type { ShownSwap } from '../model-data.ts';

/** The public ports that a swap changes, as text such as `80/tcp`, each once. */
export interface SwapPorts {
  /** Open only after the swap. */
  opens: string[];
  /** Open only before the swap. */
  closes: string[];
  /** Open before and after the swap; they lead to other roles afterwards. */
  leads: string[];
}

/**
 * Returns what a swap does to each public port. The plan lists the ports of roles, so a port that is open in both
 * deployments is in all three of its lists.
 */
export function swapPorts({ becomePublic, ceasePublic, unchanged }: SwapPlanPorts): SwapPorts {
  const leads = namesOf(unchanged);
  const notKept = (name: string) => !leads.includes(name);
  return { opens: namesOf(becomePublic).filter(notKept), closes: namesOf(ceasePublic).filter(notKept), leads };
}

type SwapPlanPorts = Pick<ShownSwap, 'becomePublic' | 'ceasePublic' | 'unchanged'>;

const namesOf = (ports: ShownSwap['unchanged']): string[] => [
  ...new Set(ports.map(({ protocol, port }) => `${port}/${protocol}`)),
];
