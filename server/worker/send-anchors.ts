import { readKeptHead } from '#server/domain/audit/index.ts';
import { type AnchorTarget, nameTarget, sendAnchor } from '#server/platform/anchors.ts';
import type { OpenServices } from '#server/process/services.ts';
import type { Job } from './ticker.ts';

const minute = 60_000;
/** The process's own log gets an anchor at least this often. */
const logEvery = 1_000;
const logEveryMs = 24 * 60 * minute;

/**
 * A job that sends the last good head of the activity to where ANNEX_AUDIT_ANCHORS says, once a minute while acts come
 * in, and now and then into the log. A target that does not take it gets the newest one a minute later.
 */
export function sendAnchors({ log, config }: OpenServices): Job {
  const sent = new Map<AnchorTarget, number>();
  let logged = { position: -1, at: 0 };
  return {
    name: 'send-anchors',
    everyMs: minute,
    quiet: true,
    async run(services, now) {
      const kept = await readKeptHead(services);
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
      const isDue = position >= logged.position + logEvery || now.getTime() - logged.at >= logEveryMs;
      if (position !== logged.position && isDue) {
        log.info({ position, hash }, 'activity anchor');
        logged = { position, at: now.getTime() };
      }
      return waits.length;
    },
  };
}
