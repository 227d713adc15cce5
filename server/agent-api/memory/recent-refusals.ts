import { LRUCache } from 'lru-cache';
import type { Context } from '#server/domain/context.ts';
import { recordRejectedCall } from '#server/domain/enrollment/index.ts';

const minuteMs = 60_000;

/**
 * Remembers which rejections were recorded within the last minute, so that repeated rejections need no database
 * statement.
 */
export class RecentRefusals {
  readonly #recordedAt = new LRUCache<string, number>({ max: 10_000 });

  /**
   * Records a rejected call for the VM's page and the activity log (`recordRejectedCall`), at most once a minute per VM
   * and code.
   */
  async note(ctx: Context, vmId: string, code: Parameters<typeof recordRejectedCall>[2]): Promise<void> {
    const key = `${vmId} ${code}`;
    const now = ctx.now.getTime();
    const last = this.#recordedAt.get(key);
    if (last !== undefined && Math.abs(now - last) < minuteMs) return;
    this.#recordedAt.set(key, now);
    await recordRejectedCall(ctx, vmId, code);
  }
}
