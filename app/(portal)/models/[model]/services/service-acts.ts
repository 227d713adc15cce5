import type { ShownService, ShownUnit } from './service-data.ts';

/** An act on the services of a model that a dialog prepares. */
export type ServiceAct =
  | { kind: 'deploy' }
  /** `service` and `endpoint` limit the choice to the pairs of this service or endpoint. */
  | { kind: 'relate'; service?: string; endpoint?: string }
  | { kind: 'expose'; service: ShownService }
  | { kind: 'addUnits'; service: ShownService }
  | { kind: 'removeUnits'; service: ShownService }
  | { kind: 'removeUnit'; unit: ShownUnit }
  | { kind: 'upgrade'; service: ShownService }
  | { kind: 'settings'; service: ShownService }
  | { kind: 'destroyService'; service: ShownService };
