import type { AddedMachine, ShownModel } from '../../model-data.ts';
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
  /** `version` is the version that is chosen at first. */
  | { kind: 'upgrade'; service: ShownService; version?: string }
  | { kind: 'settings'; service: ShownService }
  | { kind: 'destroy'; service: ShownService };

export interface ServiceDialogsProps {
  act: ServiceAct;
  model: ShownModel;
  onAct(act: ServiceAct): void;
  /** Called with new machines, whose commands and passwords are shown only once. */
  onAdded(machines: readonly AddedMachine[]): void;
  onClose(): void;
}

/** Whether services of a model can change. */
export const takesServices = ({ life, bootstrappedAt }: Pick<ShownModel, 'life' | 'bootstrappedAt'>): boolean =>
  life === 'alive' && bootstrappedAt !== null;
