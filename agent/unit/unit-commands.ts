import { isUnitName, parseUnitName } from '#protocol/index.ts';
import { type Box, boxOf } from '../amp/box.ts';
import type { Responder } from '../amp/connection.ts';
import { argumentOf, requiredArgument } from './arguments.ts';
import type { Contexts } from './contexts.ts';
import type { ContextInput, HookContext } from './hook-context.ts';
import { type LogEntry, readLogEntry } from './log-entry.ts';
import { readPort } from './port-words.ts';
import { unitError } from './unit-error.ts';

export interface UnitCommandServices {
  contexts: Contexts;
  /** Returns what a command outside of hooks may know now. */
  now(): ContextInput;
  log(entry: LogEntry): void;
}

type UnitCommand = (box: Box, services: UnitCommandServices) => Promise<Box>;

/** Returns what answers the commands of one unit's hooks (EN-26). */
export function unitCommands(services: UnitCommandServices): Responder {
  return async (name, box) => {
    const command = commands.get(name);
    if (command === undefined) throw unitError('UNHANDLED', `Unhandled Command: '${name}'`);
    return await command(box, services);
  };
}

const nothing: Box = new Map();

/** A command that is reserved (EN-17). */
const reserved: UnitCommand = async () => {
  throw unitError('NotImplemented', 'This command is reserved.');
};

const commands = new Map<string, UnitCommand>([
  ['get', get],
  ['set', set],
  ['list_relations', listRelations],
  ['config_get', configGet],
  ['unit_get', unitGet],
  ['open_port', (box, services) => setPort(box, services, true)],
  ['close_port', (box, services) => setPort(box, services, false)],
  ['log', log],
  ['flush', reserved],
  ['sync', reserved],
  ['wait', reserved],
]);

async function get(box: Box, services: UnitCommandServices): Promise<Box> {
  const context = readerOf(box, services);
  const unit = requiredArgument(box, 'unit_name');
  if (!isUnitName(unit)) throw unitError('NoSuchUnit', 'unit_name is not the name of a unit.');
  const { id } = context.relationOf(argumentOf(box, 'relation_id'));
  const value = await context.get({ relation: id, unit }, argumentOf(box, 'setting_name'));
  return boxOf({ value });
}

async function set(box: Box, services: UnitCommandServices): Promise<Box> {
  const context = writerOf(box, services);
  const unit = requiredArgument(box, 'unit_name');
  const { unit: own } = context.input;
  if (unit === parseUnitName(own)?.service) {
    throw unitError('NotPermitted', 'Only operators change the settings of a service.');
  }
  if (!isUnitName(unit)) throw unitError('NoSuchUnit', 'unit_name is not the name of a unit.');
  if (unit !== own) throw unitError('NotPermitted', `${own} cannot change the settings of ${unit}.`);
  const json = requiredArgument(box, 'json_blob');
  await context.set(context.relationOf(argumentOf(box, 'relation_id')), json);
  return nothing;
}

async function listRelations(box: Box, services: UnitCommandServices): Promise<Box> {
  const { members } = readerOf(box, services).relationOf(argumentOf(box, 'relation_id'));
  return boxOf({ members: members.join(' ') });
}

async function configGet(box: Box, services: UnitCommandServices): Promise<Box> {
  return boxOf({ value: await readerOf(box, services).get('service', argumentOf(box, 'option_name')) });
}

async function unitGet(box: Box, services: UnitCommandServices): Promise<Box> {
  const { addresses } = readerOf(box, services).input;
  const name = requiredArgument(box, 'setting_name');
  const known = new Map([
    ['private-address', addresses.private],
    ['public-address', addresses.public],
  ]);
  const value = known.get(name) ?? null;
  if (value === null) throw unitError('KeyError', name);
  return boxOf({ value });
}

async function setPort(box: Box, services: UnitCommandServices, isOpen: boolean): Promise<Box> {
  const context = writerOf(box, services);
  const port = readPort(requiredArgument(box, 'port'), box.has('proto') ? argumentOf(box, 'proto') : 'tcp');
  context.setPort(port, isOpen);
  return nothing;
}

async function log(box: Box, services: UnitCommandServices): Promise<Box> {
  const clientId = argumentOf(box, 'client_id');
  if (clientId !== '') services.contexts.find(clientId);
  services.log(readLogEntry(box, clientId === '' ? null : clientId));
  return nothing;
}

/** Returns the context of a command that only reads. Without a client id, it reads what is current. */
function readerOf(box: Box, { contexts, now }: UnitCommandServices): HookContext {
  const clientId = argumentOf(box, 'client_id');
  return clientId === '' ? contexts.passThrough(now()) : contexts.find(clientId);
}

/** Returns the context of a command that changes something, which needs a hook. */
function writerOf(box: Box, { contexts }: UnitCommandServices): HookContext {
  return contexts.find(argumentOf(box, 'client_id'));
}
