export { clearHealth } from './clear-health.ts';
export { type FoundConcern, type ReadConcerns, storedConcerns, type VmConcern } from './concerns.ts';
export {
  countNextVms,
  countVersions,
  passAt,
  type VersionPass,
  writeVersionCounts,
} from './count-versions.ts';
export { derive, type ExtensionFacts, selectExtensions } from './derive.ts';
export { dropHealth } from './drop-health.ts';
export { type FactsAsJson, factsAsJson, factsFromJson } from './facts-as-json.ts';
export { failedPart, firstFailedPart } from './failed-part.ts';
export {
  type CountCheck,
  checkCounts,
  countedFleet,
  type FleetCounts,
  foldCounts,
  readCountCheck,
  readFleetCounts,
} from './fleet-counts.ts';
export {
  eventMinute,
  type FleetEventKind,
  fleetEventKind,
  fleetEventKinds,
  isVmTransition,
  vmsWithEvent,
} from './fleet-events.ts';
export { foldHealth } from './fold-health.ts';
export { markAged, soonSeconds } from './mark-aged.ts';
