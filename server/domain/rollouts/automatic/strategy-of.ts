import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { rolloutStrategies } from '#db/schema/index.ts';
import type { Strategy } from '#server/domain/rollout-rules/stored.ts';
import { builtInStrategies, builtInStrategy } from '#server/domain/rollout-rules/strategies.ts';

/** The strategy of a handler's automatic upgrades. */
export interface AutomaticStrategy {
  name: string;
  builtIn: boolean;
  /** Whether the strategy is chosen for this handler, and not for every handler. */
  isOwn: boolean;
  strategy: Strategy;
}

/** Returns the strategy that names the handler, otherwise that of every other handler, otherwise `automatic`. */
export async function strategyOfHandler(db: Database | Transaction, handler: string): Promise<AutomaticStrategy> {
  const { name, strategy, automaticFor } = rolloutStrategies;
  const isOwn = sql<boolean>`${handler} = any(${automaticFor})`;
  const [found] = await db
    .select({ name, strategy, isOwn })
    .from(rolloutStrategies)
    .where(sql`${automaticFor} && array[${handler}, '*']::text[]`)
    .orderBy(sql`${isOwn} desc`)
    .limit(1);
  if (found === undefined) {
    return { name: 'automatic', builtIn: true, isOwn: false, strategy: builtInStrategies.automatic };
  }
  const builtIn = builtInStrategy(found.name);
  return { ...found, builtIn: builtIn !== null, strategy: builtIn ?? found.strategy };
}
