import { z } from 'zod';
import { problemInput } from '#server/domain/attention/input.ts';
import { causesInput } from '#server/domain/rollouts/input.ts';
import { serviceRef } from '#server/domain/services/input.ts';
import { modelRef } from '#server/domain/topology/input.ts';
import { slots } from '#server/domain/topology-rules/words.ts';
import { vmId } from '#server/domain/vms/input.ts';

/** `acceptLanguage` is the request's header; `chosenLanguage` is the language that the user chose on the pages. */
export const readerInput = z.object({ acceptLanguage: z.string().nullish(), chosenLanguage: z.string().nullish() });

export const instanceViewInput = readerInput.extend({ vmId });
export type InstanceViewInput = z.input<typeof instanceViewInput>;

export const deploymentInput = readerInput.extend({ cloudService: z.string().max(100), slot: z.enum(slots) });
export type DeploymentInput = z.input<typeof deploymentInput>;

export const modelMachinesInput = readerInput.extend({ model: modelRef });
export type ModelMachinesInput = z.input<typeof modelMachinesInput>;

/** `service`: only this service. */
export const serviceStatesInput = modelMachinesInput.extend({ service: serviceRef.optional() });
export type ServiceStatesInput = z.input<typeof serviceStatesInput>;

/** Names a relation by its number. */
export const failingUnitsInput = modelMachinesInput.extend({
  number: z
    .int()
    .min(1)
    .max(2 ** 31 - 1),
});
export type FailingUnitsInput = z.input<typeof failingUnitsInput>;

/** `vmId`: the VM whose units are listed. */
export const vmUnitsInput = instanceViewInput;
export type VmUnitsInput = z.input<typeof vmUnitsInput>;

export const recentRunsInput = serviceStatesInput.extend({ limit: z.number().int().min(1).max(100).default(10) });
export type RecentRunsInput = z.input<typeof recentRunsInput>;

export const silentTogetherInput = z.object({ vmId });
export type SilentTogetherInput = z.input<typeof silentTogetherInput>;

/** A part of a name, or the complete id of a VM. */
export const searchInput = z.strictObject({ q: z.string().trim().min(1).max(200) });
export type SearchInput = z.input<typeof searchInput>;

/**
 * Whether PostgreSQL accepts this ISO 8601 time. PostgreSQL has no year 0, and it writes years above 9999 differently.
 */
export function isStorable(moment: string): boolean {
  const year = new Date(moment).getUTCFullYear();
  return !(year < 1 || year > 9_999);
}

/** The time range of a VM's timeline, at most eight days. */
export const timelineInput = z.object({ vmId, from: z.iso.datetime(), to: z.iso.datetime() }).refine(({ from, to }) => {
  const length = Date.parse(to) - Date.parse(from);
  return length > 0 && length <= 8 * 86_400_000 && isStorable(from) && isStorable(to);
});
export type TimelineInput = z.input<typeof timelineInput>;

/** How the fleet map groups VMs: by a tag, by handler, or not at all. */
export const groupBy = z.union([
  z.literal('none'),
  z.literal('handler'),
  z.templateLiteral(['tag:', z.string().min(1).max(256)]),
]);

/** Without `groupBy`, the portal chooses the grouping. */
export const fleetMapInput = z.object({ groupBy: groupBy.optional() });
export type FleetMapInput = z.input<typeof fleetMapInput>;

/** A cell of a map. `group` and `index` count from 0; `revision` is that of the map. */
export const mapCellInput = z.object({
  groupBy,
  revision: z.string().max(64),
  group: z.int().min(0),
  index: z.int().min(0),
});
export type MapCellInput = z.input<typeof mapCellInput>;

/** The states of a rollout at the positions of a map. `revision` is that of the map. */
export const rolloutMapInput = z.object({ rollout: z.uuid().toLowerCase(), groupBy, revision: z.string().max(64) });
export type RolloutMapInput = z.input<typeof rolloutMapInput>;

export const listFailingInput = readerInput;
export type ListFailingInput = z.input<typeof listFailingInput>;

export const listRolloutCausesInput = readerInput.extend(causesInput.shape);
export type ListRolloutCausesInput = z.input<typeof listRolloutCausesInput>;

/** `limit` applies separately to open problems and to snoozed problems. */
export const listAttentionInput = listFailingInput.extend({ limit: z.number().int().min(1).max(500).default(100) });
export type ListAttentionInput = z.input<typeof listAttentionInput>;

export const listAttentionVmsInput = problemInput.extend({
  limit: z.number().int().min(1).max(200).default(50),
  cursor: z.string().max(1_000).optional(),
});
export type ListAttentionVmsInput = z.input<typeof listAttentionVmsInput>;

/** The VMs whose list rows are read again. */
export const readFleetRowsInput = readerInput.extend({ vmIds: z.array(vmId).max(200) });
export type ReadFleetRowsInput = z.input<typeof readFleetRowsInput>;

const reference = z.string().min(1).max(300);
const instant = z.iso.datetime({ offset: true }).refine(isStorable);

/**
 * `actor` and `target`: `kind` or `kind:id`. `action`: a code or a noun. `kind`: what people did, or what happened in
 * the fleet. `upTo` and `upToEvent`: ids of the last entry and of the last event to include.
 */
export const activityFilter = z.object({
  vmId: vmId.optional(),
  actor: reference.optional(),
  action: z.string().min(1).max(100).optional(),
  target: reference.optional(),
  q: z.string().trim().max(200).optional(),
  from: instant.optional(),
  to: instant.optional(),
  kind: z.enum(['people', 'fleet']).optional(),
  upTo: z.number().int().min(0).optional(),
  upToEvent: z.number().int().min(0).optional(),
});
export type ActivityFilter = z.output<typeof activityFilter>;
export type ActivityFilterInput = z.input<typeof activityFilter>;

export const listActivityInput = activityFilter.extend({
  limit: z.number().int().min(1).max(1_000).default(50),
  cursor: z.string().max(500).optional(),
});
export type ListActivityInput = z.input<typeof listActivityInput>;

/** `mark` is a time, such as the last visit. Actions before it are never combined with actions after it. */
export const listFeedInput = listActivityInput.extend({
  limit: z.number().int().min(1).max(200).default(50),
  mark: instant.optional(),
});
export type ListFeedInput = z.input<typeof listFeedInput>;

/** `ranges` are the time ranges for which entries are counted. */
export const activityCountsInput = activityFilter.omit({ from: true, to: true }).extend({
  ranges: z.array(z.object({ from: instant, to: instant.optional() })).max(4),
});
export type ActivityCountsInput = z.input<typeof activityCountsInput>;

export const countNewerInput = activityFilter
  .omit({ upTo: true, upToEvent: true })
  .extend({ after: z.number().int().min(0), afterEvent: z.number().int().min(0).optional() });
export type CountNewerInput = z.input<typeof countNewerInput>;

export const getActInput = z.object({ id: z.number().int().min(1) });
export type GetActInput = z.input<typeof getActInput>;

export const activityFacetsInput = z.object({ vmId: vmId.optional() });
export type ActivityFacetsInput = z.input<typeof activityFacetsInput>;
