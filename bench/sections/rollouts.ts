import { judgeRows } from '../rollouts/judge-row.ts';
import { loadRows } from '../rollouts/load-rows.ts';
import { pageRows } from '../rollouts/page-row.ts';
import { planRows } from '../rollouts/plan-rows.ts';
import { publishRows, secretRows } from '../rollouts/publish-rows.ts';
import { decisionRows, pauseRows } from '../rollouts/worker-rows.ts';
import type { Bench, Figure, Section } from './section.ts';

/** The parts of the section, which can run singly. Those that need the worker come last. */
const parts: Readonly<Record<string, Section>> = {
  plan: planRows,
  publish: publishRows,
  secrets: secretRows,
  judge: judgeRows,
  page: pageRows,
  decide: decisionRows,
  pause: pauseRows,
  load: loadRows,
};

/** Sections with a part each, by name. */
export const rolloutParts: Readonly<Record<string, Section>> = Object.fromEntries(
  Object.entries(parts).map(([name, part]) => [`rollouts/${name}`, part]),
);

/** Measures the cost of rollouts: planning, publishing, judging, stopping, showing. */
export async function rollouts(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, part] of Object.entries(parts)) {
    bench.say(`rollouts/${name} …`);
    figures.push(...(await part(bench)));
  }
  return figures;
}
