import { z } from 'zod';
import { count } from '#server/domain/answers.ts';
import { slots } from '#server/domain/topology-rules/words.ts';

const path = z.string().describe('JSON pointer to the part of the document that leads to the act.');
const named = { service: z.string(), path };
const placedUnit = z.object({
  unit: z.string(),
  machine: count.describe('The number that its machine has or will have.'),
  isNewMachine: z.boolean(),
  cloudService: z.string().nullable().describe('The cloud service of the new machine; null for a new one.'),
});
const settingChange = z.object({
  key: z.string(),
  before: z.unknown().describe('Absent if the key is new.'),
  after: z.unknown().describe('Absent if the key is removed.'),
});

/** What a plan does, one after the other. All of it is committed together. */
export const planAct = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('createModel'), path, availabilitySetsEnabled: z.boolean() }),
  z.object({ kind: z.literal('bootstrap'), path, controllers: count }),
  z.object({ kind: z.literal('deploy'), ...named, formula: z.string(), version: z.string(), exposed: z.boolean() }),
  z.object({
    ...{ kind: z.literal('settings'), ...named, from: count, to: count },
    changes: z.array(settingChange),
    protectedSettings: z.enum(['set', 'removed']).nullable().describe('Null if they stay as they are.'),
    units: z.array(z.string()).describe('The units that get the settings.'),
    atOnce: count.nullable().describe('How many units change at the same time; null for all.'),
  }),
  z.object({
    ...{ kind: z.literal('upgrade'), ...named, from: z.string(), to: z.string() },
    units: z.array(z.string()).describe('The units that get the version.'),
    atOnce: count.nullable().describe('How many units change at the same time; null for all.'),
  }),
  z.object({
    ...{ kind: z.literal('stage'), ...named, to: z.string() },
    from: z.string().nullable().describe('The version of the units in Staging; null if there are none yet.'),
    units: z.array(z.string()).describe('The units in Staging that get the version.'),
    atOnce: count.nullable().describe('How many units change at the same time; null for all.'),
  }),
  z.object({ kind: z.literal('limits'), ...named, fields: z.array(z.enum(['timeouts', 'upgrade', 'configure'])) }),
  z.object({ kind: z.literal('expose'), ...named, exposed: z.boolean() }),
  z.object({ kind: z.literal('addMachine'), path, machine: count }),
  z.object({ kind: z.literal('addUnits'), ...named, slot: z.enum(slots), units: z.array(placedUnit) }),
  z.object({ kind: z.literal('relate'), path, endpoints: z.array(z.string()), interface: z.string() }),
]);
export type PlanAct = z.infer<typeof planAct>;

const leftRelation = z.object({ number: count, endpoints: z.array(z.string()) });

/** What a document leaves out. */
export const leftOut = z.object({
  services: z.array(z.object({ service: z.string(), units: z.array(z.string()), relations: z.array(leftRelation) })),
  units: z.array(z.string()).describe('Units beyond the number in the document: those with the highest numbers.'),
  relations: z.array(leftRelation),
  machines: z.array(count),
});

const plannedHook = z.object({
  hook: z.string(),
  because: z.string().describe('Why the hook is due, such as `other-settings`.'),
  when: z
    .enum(['already', 'now', 'started'])
    .describe('`already`: due before the apply. `now`: due immediately. `started`: due once the units have started.'),
  count: count.describe('How often the hook runs: once for each remote unit.'),
  remoteUnits: z.array(z.string()).describe('The remote units; of many, only the first 20.'),
});
export type PlannedHook = z.infer<typeof plannedHook>;

/** What applying a document would do. */
export const documentPlan = z
  .object({
    model: z.string(),
    revision: count.nullable().describe('The revision of the model; null if the model does not exist yet.'),
    prune: z.boolean(),
    acts: z.array(planAct),
    left: leftOut.describe('What is removed with `prune`; without it, what stays although the document leaves it out.'),
    machines: z.array(count).describe('The numbers of the machines to enroll.'),
    hooks: z.array(z.object({ unit: z.string(), hooks: z.array(plannedHook) })),
    warnings: z.array(
      z
        .object({ code: z.enum(['unit_failing']), unit: z.string(), path })
        .describe('`unit_failing`: a hook of a unit that changes fails now.'),
    ),
    planHash: z.string().describe('Identifies the effect of the plan. An apply with another effect is rejected.'),
  })
  .meta({ id: 'DocumentPlan' });
export type DocumentPlan = z.infer<typeof documentPlan>;
