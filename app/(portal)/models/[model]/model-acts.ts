import type { AddedMachine, ShownCloudService, ShownEndpoint, ShownModel, ShownRole } from '../model-data.ts';

/** An act on a model that a dialog prepares. */
export type ModelAct =
  | { kind: 'bootstrap' }
  | { kind: 'addMachine' }
  | { kind: 'adoptMachine' }
  | { kind: 'removeMachine'; role: ShownRole }
  | { kind: 'openPort'; role: ShownRole }
  | { kind: 'closePort'; role: ShownRole; port: ShownEndpoint }
  | { kind: 'swap'; service: ShownCloudService }
  | { kind: 'renew'; what: 'token' | 'password'; role: ShownRole }
  | { kind: 'destroy' };

/** Whether machines can be added to a model one by one. */
export const takesMachines = ({ bootstrappedAt, life, availabilitySetsEnabled }: ShownModel): boolean =>
  life === 'alive' && bootstrappedAt !== null && !availabilitySetsEnabled;

export interface ModelDialogsProps {
  act: ModelAct;
  model: ShownModel;
  /** Called with new machines, whose commands and passwords are shown only once. */
  onAdded(machines: readonly AddedMachine[]): void;
  onClose(): void;
}
