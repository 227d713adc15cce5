import { countNextVms, passAt, type VersionPass, writeVersionCounts } from '#server/domain/health/index.ts';
import type { Job } from '../job.ts';

/** Milliseconds between the starts of two passes. */
const passEveryMs = 5 * 60_000;

/**
 * Counts the VMs of each handler version in small steps, one per run, so that counting a large fleet does not delay
 * reports.
 */
export function countVersionsJob(): Job {
  let pass: VersionPass | null = null;
  let nextPassAt = 0;
  return {
    name: 'count-versions',
    periodSeconds: 1,
    statementTimeoutSeconds: 15,
    quiet: true,
    async run({ db, now }) {
      if (pass === null) {
        if (performance.now() < nextPassAt) return 0;
        nextPassAt = performance.now() + passEveryMs;
        pass = passAt(now);
      }
      if (await countNextVms(db, pass)) return 0;
      const whole = pass;
      pass = null;
      return writeVersionCounts(db, whole);
    },
  };
}
