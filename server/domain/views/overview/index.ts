export type { FleetMap, GroupBy, MapGroup } from './fleet-map.ts';
export { getFleetMap } from './get-fleet-map.ts';
export { type FleetFigures, getFleetSummary, type HealthCount } from './get-fleet-summary.ts';
export { getMapCell, type MapCell, type Trouble } from './get-map-cell.ts';
export { type Deadline, type Deadlines, listDeadlines } from './list-deadlines.ts';
export { type FailingExtension, type FailingGroup, listFailingTogether } from './list-failing-together.ts';
export { type FleetEvent, listFleetEvents } from './list-fleet-events.ts';
export { type ChangeKind, type HealthChanges, listHealthChanges } from './list-health-changes.ts';
export type { CommonTag } from './tag-shares.ts';
