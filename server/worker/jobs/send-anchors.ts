import { readKeptHead } from '#server/domain/audit/index.ts';
import { type AnchorTarget, nameTarget, sendAnchor } from '#server/platform/anchors.ts';
import type { Job } from '../job.ts';

/** The worker logs an anchor after this many entries, or after this time. */
const logEveryActs = 1_000;
const logEveryMs = 24 * 60 * 60_000;

/**
 * Sends the last verified head of the activity log to the targets in ANNEX_AUDIT_ANCHORS, once a minute while there are
 * new entries. Also writes the head to the worker's log, but less often. A target that could not be reached gets the
 * newest head a minute later.
 */
export function sendAnchorsJob(): Job {
  const sent = new Map<AnchorTarget, number>();
  let logged = { position: -1, at: 0 };
  return {
    name: 'send-anchors',
    periodSeconds: 60,
    statementTimeoutSeconds: 15,
    quiet: true,
    async run(ctx) {
      const { log, config, now } = ctx;
      const kept = await readKeptHead(ctx);
      if (kept === null) return 0;
      const { position, hash } = kept;
      const message = { at: now.toISOString(), position, hash };
      const waits = config.auditAnchors.filter((target) => sent.get(target) !== position);
      await Promise.all(
        waits.map(async (target) => {
          try {
            await sendAnchor(target, message);
            sent.set(target, position);
          } catch (error) {
            log.warn({ err: error, target: nameTarget(target) }, 'an anchor of the activity was not delivered');
          }
        }),
      );
      const isDue = position >= logged.position + logEveryActs || now.getTime() - logged.at >= logEveryMs;
      if (position !== logged.position && isDue) {
        log.info({ position, hash }, 'activity anchor');
        logged = { position, at: now.getTime() };
      }
      return waits.length;
    },
  };
}
