import { eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { rolloutStrategies } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import type { Strategy } from '#server/domain/rollout-rules/stored.ts';
import { builtInStrategy } from '#server/domain/rollout-rules/strategies.ts';

/**
 * Returns a built-in or saved strategy. If there is none of this name, returns what a rollout that used it has kept.
 * Throws 404 `strategy_unknown`.
 */
export async function findStrategy(
  db: Database | Transaction,
  name: string,
  kept?: Strategy & { strategy: string },
): Promise<Strategy> {
  const builtIn = builtInStrategy(name);
  if (builtIn !== null) return builtIn;
  const [row] = await db.select().from(rolloutStrategies).where(eq(rolloutStrategies.name, name));
  if (row !== undefined) return row.strategy;
  if (kept?.strategy === name) return kept;
  throw new DomainError('not_found', 'strategy_unknown');
}
