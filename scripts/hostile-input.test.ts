import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
const domain = 'server/domain';
const services = `${domain}/services`;
const formula = `${domain}/packages/inspect/formula/formula.test.ts`;
const rest = 'server/rest/hostile-services.test.ts';
const agentApi = 'server/agent-api/hostile-units.test.ts';
const hooks = 'agent/hostile-hooks.test.ts';
const commands = 'agent/unit/unit-commands.test.ts';
const views = 'agent/unit/views.test.ts';

type Shown = [file: string, title: string];

/** Hostile input to services, units, relations and models, the answer to it, and the tests that show it. */
interface Case {
  number: number;
  input: string;
  answer: string;
  shown: Shown[];
}

const cases: Case[] = [
  {
    number: 1,
    input: 'names of units such as wordpress/01, ../x/1 and 10,000 characters',
    answer: '404 or 422; NoSuchUnit on the socket',
    shown: [
      ['protocol/unit-names.test.ts', 'is not the name of a unit'],
      [rest, 'hostile 1'],
      [commands, 'EN-2 a name that would leave its folder'],
    ],
  },
  {
    number: 2,
    input: 'services named wordpress-1, Ä, -a, a--b, 64 characters',
    answer: '422 service_name_form',
    shown: [[`${services}/services.test.ts`, `for the name "%s"`]],
  },
  {
    number: 3,
    input: 'metadata.yaml with aliases, tags, two documents, a key twice, 10,000 levels, 2 MiB',
    answer: 'rejected with code, line and column, in little time',
    shown: [
      [formula, 'hostile YAML is rejected in little time'],
      [formula, 'every fault of metadata.yaml has its line and column'],
      [formula, 'files above 1 MiB are rejected unread'],
      [formula, 'Latin-1 is rejected'],
    ],
  },
  {
    number: 4,
    input: 'both manifests; hooks that are folders, links, devices, or in two spellings',
    answer: 'each has its fault, and nothing is registered',
    shown: [
      [formula, 'the manifest at the root decides the kind'],
      [formula, 'a device'],
      [formula, 'in another case beside it'],
    ],
  },
  {
    number: 5,
    input: 'relations named db twice, juju-info, a/b, db-1, 300 characters',
    answer: 'relation_name_twice, relation_name_form',
    shown: [
      [formula, 'the relation name %j is rejected'],
      [formula, 'a relation name in two sections'],
    ],
  },
  {
    number: 6,
    input: 'settings that are no JSON object, or have a key twice, invalid UTF-8 or 65,536 bytes',
    answer: 'BadValue; the last value counts; not sent',
    shown: [
      [commands, 'EN-14 settings that are no JSON object'],
      [commands, 'of a key that occurs twice in the settings, the last value counts'],
      ['agent/unit-tools/tools.test.ts', 'rejects a value that AMP cannot carry'],
    ],
  },
  {
    number: 7,
    input: 'keys that are empty, have a NUL or 256 bytes; __proto__, constructor, 1, a/b',
    answer: 'BadValue; the others are keys',
    shown: [
      [commands, 'or have impossible keys'],
      [views, 'EN-42 comes back as the same JSON value'],
      [`${services}/relations/flush.test.ts`, 'a key that is %s is rejected'],
    ],
  },
  {
    number: 8,
    input: 'a node that is filled to its limit, and one more byte or key',
    answer: 'TooLong; what was set before stays',
    shown: [[views, 'EN-43 is rejected if the node would be larger than 64,000 bytes']],
  },
  {
    number: 9,
    input: 'set for another unit, the service, a foreign relation, after the end, with a guessed client id',
    answer: 'NotPermitted, NoSuchUnit, UnknownClient',
    shown: [
      [commands, 'EN-15 another unit'],
      [commands, 'EN-3 the service'],
      [commands, 'a relation of another unit'],
      [views, 'EN-13 a client whose hook has ended'],
    ],
  },
  {
    number: 10,
    input: 'a child that sets after its hook ended with 0',
    answer: 'UnknownClient; nothing is stored',
    shown: [[hooks, 'hostile 10']],
  },
  {
    number: 11,
    input: 'a hook that ignores SIGTERM, forks, calls setsid and floods its output',
    answer: 'ended in time with its processes; output is limited; other units go on',
    shown: [
      [hooks, 'hostile 11'],
      ['agent/handler/output-file.test.ts', 'limit'],
    ],
  },
  {
    number: 12,
    input: 'a hook that deletes its formula, its socket and the agent’s state',
    answer: 'all are there again for the next hook',
    shown: [[hooks, 'hostile 12']],
  },
  {
    number: 13,
    input: 'bytes that are no AMP, unfinished boxes, 65 commands, too many connections',
    answer: 'only this connection closes or waits',
    shown: [
      ['agent/amp/box-parser.test.ts', 'EN-26 bytes that are not AMP'],
      ['agent/amp/server.test.ts', 'EN-69 only the connection closes that'],
      ['agent/amp/server.test.ts', 'a connection with 64 boxes under way is read no further'],
    ],
  },
  {
    number: 14,
    input: 'the end of a run of another VM, twice with other changes, before its begin, after force',
    answer: '409 run_unknown, the first one counts, 409 unit_gone',
    shown: [
      [`${services}/runs/histories.test.ts`, 'ends that do not fit'],
      [`${services}/runs/agent-calls.test.ts`, 'of an unknown run, of another VM, or of a unit that is gone'],
    ],
  },
  {
    number: 15,
    input: 'an end with 64 full nodes, a relation twice, a key that is set and removed, changes of a failure',
    answer: '413, 400, 400, 400; nothing changes',
    shown: [
      [agentApi, 'hostile 15'],
      ['protocol/unit-runs.test.ts', 'EN-10 a run is rejected'],
    ],
  },
  {
    number: 16,
    input: 'flushes into the same relations in different orders',
    answer: 'no deadlock; all are stored',
    shown: [[`${services}/relations/flush.test.ts`, 'EN-59 flushes into crossing relations at the same time']],
  },
  {
    number: 17,
    input: 'two services that change each other’s settings without end',
    answer: 'passed on at most every 10 seconds; other relations and goal states as before',
    shown: [
      ['server/agent-api/memory/relation-pace.test.ts', 'is passed on every 10 seconds'],
      ['server/agent-api/memory/relation-pace.test.ts', 'of another relation is not held back'],
      ['agent/unit-restarts.test.ts', 'EN-67'],
    ],
  },
  {
    number: 18,
    input: 'an agent that never looks, or without end',
    answer: 'notified with each poll; 429',
    shown: [[agentApi, 'hostile 18']],
  },
  {
    number: 19,
    input: 'positions above the clock, below zero, 500 times, of another epoch',
    answer: 'all members; 400; the last one counts; all members',
    shown: [
      [agentApi, 'hostile 19'],
      [`${services}/unit-state/unit-state.test.ts`, 'the parameter after'],
    ],
  },
  {
    number: 20,
    input: 'wake-ups that are lost, doubled, or for what is gone',
    answer: 'heard within seconds, once',
    shown: [
      [agentApi, 'hostile 20'],
      [`${services}/unit-state/stamp.test.ts`, 'EN-71 a gateway that received no wake-up'],
    ],
  },
  {
    number: 21,
    input: 'enrollment with the id of another role, without an id, twice, with a forbidden address',
    answer: '422, 409; no address outside of the network is connected to',
    shown: [
      ['server/agent-api/routes/instance/route.test.ts', 'JU-35 an enrollment'],
      [`${domain}/topology/bind-instance.test.ts`, 'rejects the addresses of cloud services'],
      ['server/fabric/fabric.test.ts', 'JU-33'],
    ],
  },
  {
    number: 22,
    input: 'ids of instances with empty or wrong parts, or of another model',
    answer: 'no instance; 404',
    shown: [
      [`${domain}/topology-rules/instance-ids.test.ts`, 'JU-12 an id with %s is of no instance'],
      [`${domain}/topology-rules/instance-ids.test.ts`, 'JU-31'],
      ['server/rest/endpoints.test.ts', 'of %j do not exist'],
    ],
  },
  {
    number: 23,
    input: 'models named a--b, 48 characters, with a dot; a name whose model is still being destroyed',
    answer: '422; 409 until it is gone',
    shown: [
      [`${domain}/topology-rules/names.test.ts`, 'JU-30 the name of a model'],
      [`${domain}/topology/models.test.ts`, 'JU-30 needs a free name'],
      [`${domain}/topology/models.test.ts`, 'frees the name'],
    ],
  },
  {
    number: 24,
    input: 'ports 0, 65536, 80/sctp, 80-90, 080, 257 of them, and one of another unit',
    answer: 'BadValue; refused at the command, and 422 port_conflict at the end of the run',
    shown: [
      [commands, 'a port with a leading zero'],
      [commands, 'are at most 256'],
      [commands, 'a port of another unit'],
      [`${services}/runs/change-ports.test.ts`, 'port'],
    ],
  },
  {
    number: 25,
    input: 'units that several people add and remove at the same time, and a removed service',
    answer: 'one cloud service; no number twice; nothing is left',
    shown: [
      [`${services}/at-the-same-time.test.ts`, 'units that two people add while others are removed'],
      [`${services}/at-the-same-time.test.ts`, 'of a service that is removed while units are added'],
    ],
  },
  {
    number: 26,
    input: 'a swap while roles are created, during a destruction, twice at the same time',
    answer: '409 or one after the other; never two deployments in a slot',
    shown: [
      [`${domain}/topology/swap.test.ts`, 'while a role is being created'],
      [`${domain}/topology/swap.test.ts`, 'for a cloud service that does not exist or is deleted'],
      [`${domain}/topology/swap.test.ts`, 'of several people at the same time is ordered'],
      [`${domain}/topology/swap.test.ts`, 'no reader sees two deployments in one slot'],
    ],
  },
  {
    number: 27,
    input: 'documents that are too large, with aliases, wrong numbers, missing services, another model',
    answer: '413 or 422 with every fault by its path; nothing changes',
    shown: [
      [`${services}/document/faults.test.ts`, 'a document is rejected with every fault by its path'],
      [`${services}/document/faults.test.ts`, 'with faults changes nothing'],
      ['server/rest/model-documents.test.ts', 'a document has at most 4 MiB'],
    ],
  },
  {
    number: 28,
    input: 'a plan after which another person added a unit',
    answer: '412 plan_moved_on',
    shown: [[`${services}/document/plan.test.ts`, 'plan_moved_on']],
  },
  {
    number: 29,
    input: 'decisions about a run of another unit, about a success, a hundred times',
    answer: '404, 409, once',
    shown: [
      [`${services}/resolve.test.ts`, 'for a run that succeeded, of another unit, and that is unknown'],
      [`${services}/resolve.test.ts`, 'is decided once, however often it is requested'],
    ],
  },
  {
    number: 30,
    input: 'the 1,001st unit, the 65th unit of a VM, the 2,001st relation',
    answer: '409 with the limit',
    shown: [
      [rest, 'hostile 30'],
      [`${services}/placing.test.ts`, 'a VM has at most 64 units'],
    ],
  },
  {
    number: 31,
    input: 'too many connections, slow clients, members that close, datagrams from 20,000 addresses',
    answer: 'refused, closed in time, passed over, the oldest is forgotten',
    shown: [
      ['server/fabric/proxy/tcp-endpoint.test.ts', 'connections above the limit of an endpoint are refused'],
      ['server/fabric/proxy/tcp-endpoint.test.ts', 'a connection without a byte is closed in time'],
      ['server/fabric/proxy/tcp-endpoint.test.ts', 'that closes connections without an answer comes after'],
      ['server/fabric/proxy/udp-endpoint.test.ts', 'forgets the client that was silent longest'],
    ],
  },
  {
    number: 32,
    input: 'values with markup, control characters, right-to-left marks and formulas',
    answer: 'kept and shown as text; escaped in CSV',
    shown: [
      [views, '<script>'],
      ['server/rest/csv.test.ts', 'starts no formula'],
      ['agent/terminal.test.ts', 'escape'],
    ],
  },
  {
    number: 33,
    input: 'a viewer who reads values by any call; a publisher of another namespace',
    answer: '403; keys and sizes only',
    shown: [
      [rest, 'hostile 33'],
      ['server/rest/formulas.test.ts', 'needs the rights of its namespace'],
    ],
  },
  {
    number: 34,
    input: 'secrets in dumps, statements, errors and the activity log',
    answer: 'not found',
    shown: [
      [rest, 'hostile 34'],
      [`${services}/relations/nodes.test.ts`, 'EN-64 a dump of the database and a log of every statement'],
      [`${services}/services.test.ts`, 'EN-64'],
    ],
  },
  {
    number: 35,
    input: 'yesterday’s database under running agents',
    answer: 'agents look again; hooks whose confirmation is lost run again; nothing is stored twice',
    shown: [
      [hooks, 'hostile 35'],
      [agentApi, 'hostile 19'],
      [`${services}/relations/participants.test.ts`, 'a clock of a restored database is ignored'],
    ],
  },
];

describe('hostile input', () => {
  test.each(cases)('$number. $input: $answer', ({ shown }) => {
    expect(shown.length).toBeGreaterThan(0);
    for (const [file, title] of shown) expect(readFileSync(new URL(file, root), 'utf8')).toContain(title);
  });

  test('has 35 cases, in order', () => {
    expect(cases.map(({ number }) => number)).toEqual(Array.from({ length: 35 }, (_, at) => at + 1));
  });
});
