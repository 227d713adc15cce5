export { countFleet, type FleetSummary, summarizeFleet } from './count-fleet.ts';
export { fleetField } from './field.ts';
export { coreFields, type FleetFilter } from './fields.ts';
export { type FleetRows, type FleetSource, fleetSource } from './filter.ts';
export { fleetFilterInput, valueSchema } from './filter-input.ts';
export { type FleetFacet, type ListFleetFacetsInput, listFleetFacets } from './list-facets.ts';
export { type ListedField, listFleetFields } from './list-fields.ts';
export { type FleetOrder, fleetOrder } from './order.ts';
