import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { count } from '#server/domain/answers.ts';
import { slots } from '#server/domain/topology-rules/words.ts';
import type { ModelRow } from './model-rows.ts';

const swappedHook = z.object({
  hook: z.string(),
  count: count.describe('How often the hook runs: once for each remote unit.'),
  remoteUnits: z.array(z.string()).describe('The remote units; of many, only the first 20.'),
});

/** What a swap does to units, as the API returns it. */
export const swapUnits = z.object({
  units: z
    .array(z.object({ unit: z.string(), to: z.enum(slots) }))
    .describe('The units of the cloud service, each with the slot that it is in after the swap.'),
  hooks: z
    .array(z.object({ unit: z.string(), hooks: z.array(swappedHook) }))
    .describe('The hooks that follow: of units whose public address changes, and of units that are related to them.'),
});
export type SwapUnits = z.infer<typeof swapUnits>;

/** A cloud service. `production`: the deployment that is in Production after the swap. */
export interface SwappedService {
  cloudService: string;
  production: string | null;
}

/** What a swap means for units. Services are a later module, so they pass it. */
export interface SwapUse {
  /** Locks what must be locked before the cloud service. */
  lock(tx: Transaction, cloudService: string): Promise<void>;
  /** Returns what a swap would do. */
  plan(tx: Transaction, swap: SwappedService): Promise<SwapUnits>;
  /** Stores what follows, after the deployments changed their slots. The model is locked. */
  store(tx: Transaction, model: ModelRow, swap: SwappedService): Promise<void>;
}

/** A swap of a cloud service without units. */
export const swapsNoUnits: SwapUse = {
  lock: async () => {},
  plan: async () => ({ units: [], hooks: [] }),
  store: async () => {},
};
