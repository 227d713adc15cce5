import { join } from 'node:path';
import { z } from 'zod';
import { type DueHook, type UnitRunEnd, unitRun } from '#protocol/index.ts';
import type { AgentLayout } from '../../folder/layout.ts';
import { discard, readJson, writeJson } from '../../folder/write-file.ts';
import { jsonFilesIn } from '../../unit/unit-file.ts';

/** The outcome of a hook, with its changes. The portal has not stored it, or the agent has not recorded that it has. */
export interface HookOutcome {
  unit: string;
  run: string;
  due: DueHook;
  end: UnitRunEnd;
}

const stored = z.object({
  unit: z.string(),
  run: z.string(),
  due: z.custom<DueHook>((value) => typeof value === 'object' && value !== null),
  end: unitRun,
});

/** The outcomes of hooks that are on their way to the portal, on disk. A unit has at most one. */
export class Outcomes {
  private readonly folder: string;
  private readonly all = new Map<string, HookOutcome>();

  constructor({ flushes }: AgentLayout) {
    this.folder = flushes;
    for (const name of jsonFilesIn(this.folder)) {
      const parsed = stored.safeParse(readJson(join(this.folder, name)));
      if (!parsed.success || parsed.data.end.phase !== 'end') continue;
      const { end } = parsed.data;
      this.all.set(parsed.data.unit, { ...parsed.data, end });
    }
  }

  of(unit: string): HookOutcome | undefined {
    return this.all.get(unit);
  }

  hasRun(run: string): boolean {
    return [...this.all.values()].some((outcome) => outcome.run === run);
  }

  get units(): string[] {
    return [...this.all.keys()];
  }

  /** Stores an outcome and syncs it. From here on, the hook is not run again for this run. */
  add(outcome: HookOutcome): void {
    writeJson(this.pathOf(outcome), outcome);
    this.all.set(outcome.unit, outcome);
  }

  remove(outcome: HookOutcome): void {
    this.all.delete(outcome.unit);
    discard(this.pathOf(outcome));
  }

  private pathOf({ run }: HookOutcome): string {
    return join(this.folder, `${run}.json`);
  }
}
