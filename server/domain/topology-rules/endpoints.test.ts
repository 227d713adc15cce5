import { describe, expect, test } from 'vitest';
import {
  balancedSets,
  closeEndpoint,
  closeRole,
  type EndpointRequest,
  initialEndpoints,
  isReachable,
  openEndpoint,
  openedPorts,
  probePort,
  type RoleEndpoint,
} from './endpoints.ts';
import { type Random, randomOf } from './testing/random.ts';

const request = (given: Partial<EndpointRequest> = {}): EndpointRequest => ({
  ...{ role: 'a', protocol: 'tcp', publicPort: 80, isBalanced: true, source: 'unit:blog/0' },
  ...given,
});

/** Opens ports in turn, each of which must be free. */
function opened(...requests: EndpointRequest[]): RoleEndpoint[] {
  return requests.reduce<RoleEndpoint[]>((endpoints, one) => {
    const result = openEndpoint(endpoints, one);
    if ('refusal' in result) throw new Error(result.refusal);
    return result.endpoints;
  }, []);
}

const operator = { isBalanced: false, source: 'operator' as const };

test('JU-15 a port that a unit opens is an endpoint in a load-balancing set', () => {
  expect(opened(request())).toEqual([
    {
      ...{ role: 'a', protocol: 'tcp', publicPort: 80, localPort: 80 },
      ...{ name: 'tcp80-80_80', set: 'tcp80-80', source: 'unit:blog/0' },
    },
  ]);
});

test('JU-15 every unit that opens the port becomes a member of the set', () => {
  const endpoints = opened(request(), request({ role: 'b', source: 'unit:blog/1' }));
  expect(balancedSets(endpoints)).toEqual(new Map([['tcp80-80', ['a', 'b']]]));
});

describe('JU-15 who may open a port that role a already has', () => {
  const conflict = { refusal: 'port_conflict', params: { port: '80/tcp', role: 'a' } };
  const inSet = request();
  const alone = request(operator);
  const other = { role: 'b', source: 'unit:blog/1' as const };
  test.each<[string, EndpointRequest, EndpointRequest, object | null]>([
    ['another role in the set', inSet, request(other), null],
    ['another role without the set', inSet, request({ role: 'b', ...operator }), conflict],
    ['another role in a set, if role a has the port alone', alone, request(other), conflict],
    ['another role without a set, if role a has the port alone', alone, request({ role: 'b', ...operator }), conflict],
    ['another role with the other protocol', inSet, request({ ...other, protocol: 'udp' }), null],
    ['another role with another port', alone, request({ role: 'b', ...operator, publicPort: 81 }), null],
    ['the same unit again', inSet, inSet, null],
    ['a second unit on the same machine', inSet, request({ source: 'unit:store/0' }), conflict],
    ['an operator on the same machine', inSet, alone, conflict],
    ['the operator with another local port', alone, request({ ...operator, localPort: 8_080 }), null],
  ])('%s', (_, first, second, refusal) => {
    const endpoints = opened(first);
    const result = openEndpoint(endpoints, second);
    expect('refusal' in result ? result : null).toEqual(refusal);
    expect(endpoints).toEqual(opened(first));
  });
});

test('opening a port again replaces the endpoint, so that a port is in the list once', () => {
  const endpoints = opened(request(operator), request({ ...operator, localPort: 8_080 }));
  expect(endpoints.map(({ publicPort, localPort }) => [publicPort, localPort])).toEqual([[80, 8_080]]);
});

describe('closing', () => {
  const both = [request(), request({ role: 'b', source: 'unit:blog/1' })];

  test('JU-15 the set ends with its last member', () => {
    const one = closeEndpoint(opened(...both), request());
    expect(balancedSets(one)).toEqual(new Map([['tcp80-80', ['b']]]));
    const none = closeEndpoint(one, request({ role: 'b', source: 'unit:blog/1' }));
    expect(balancedSets(none).size).toBe(0);
    expect(openEndpoint(none, request({ role: 'c', ...operator }))).toMatchObject({ endpoints: [{ role: 'c' }] });
  });

  test.each<[string, Partial<EndpointRequest>]>([
    ['of another unit', { source: 'unit:store/0' }],
    ['of an operator', { source: 'operator' }],
    ['of another role', { role: 'b' }],
    ['of the other protocol', { protocol: 'udp' }],
    ['that is not open', { publicPort: 81 }],
  ])('a port %s changes nothing', (_, given) => {
    expect(closeEndpoint(opened(request()), request(given))).toEqual(opened(request()));
  });

  test('a role that is deleted leaves all sets', () => {
    expect(closeRole(opened(...both, request({ publicPort: 443 })), 'a')).toEqual(opened(both[1] as EndpointRequest));
  });
});

describe('JU-17 the endpoints of a new role', () => {
  const shown = (endpoints: RoleEndpoint[]) => endpoints.map(({ name, publicPort, set }) => [name, publicPort, set]);

  test.each([
    ['with availability sets', { isController: false, isBalanced: true }, [['ssh', 22, 'tcp22-22']]],
    [
      'of a controller',
      { isController: true, isBalanced: true },
      [
        ['ssh', 22, 'tcp22-22'],
        ['api', 17_070, 'tcp17070-17070'],
      ],
    ],
    ['without availability sets', { isController: false, isBalanced: false }, [['ssh', 22, null]]],
  ])('%s', (_, kind, endpoints) => {
    expect(shown(initialEndpoints('a', kind))).toEqual(endpoints);
  });

  test('SSH is balanced over all roles, and the API over exactly the controllers', () => {
    const roles = ['a', 'b', 'c'].flatMap((role) =>
      initialEndpoints(role, { isController: role < 'c', isBalanced: true }),
    );
    expect(balancedSets(roles)).toEqual(
      new Map([
        ['tcp22-22', ['a', 'b', 'c']],
        ['tcp17070-17070', ['a', 'b']],
      ]),
    );
  });

  test('no unit and no operator can take or close them', () => {
    const initial = initialEndpoints('a', { isController: false, isBalanced: true });
    expect(openEndpoint(initial, request({ publicPort: 22 }))).toMatchObject({ refusal: 'port_conflict' });
    expect(closeEndpoint(initial, request({ publicPort: 22, source: 'operator' }))).toEqual(initial);
  });

  test('JU-44 they are not among the opened ports of a unit', () => {
    const initial = initialEndpoints('a', { isController: true, isBalanced: true });
    const endpoints = [
      ...initial,
      ...opened(request(), request({ role: 'b', source: 'unit:blog/1', publicPort: 443 })),
    ];
    expect(openedPorts(endpoints, 'blog/0')).toEqual(['80/tcp']);
    expect(openedPorts(endpoints, 'blog/2')).toEqual([]);
  });
});

describe('JU-16 the public address leads to', () => {
  const [unit, byOperator, initial] = [request(), request(operator), request({ source: 'initial' })].map(
    (one) => opened(one)[0] as RoleEndpoint,
  ) as [RoleEndpoint, RoleEndpoint, RoleEndpoint];
  test.each([
    ['a unit whose service is exposed', unit, 'production', true, true],
    ['no unit whose service is not exposed', unit, 'production', false, false],
    ['no unit in Staging', unit, 'staging', true, false],
    ['what an operator opened', byOperator, 'production', false, true],
    ['SSH', initial, 'production', false, true],
    ['nothing else in Staging', initial, 'staging', true, false],
  ] as const)('%s', (_, endpoint, slot, exposed, reachable) => {
    expect(isReachable(endpoint, slot, (of) => of === 'blog/0' && exposed)).toBe(reachable);
  });
});

test('a TCP set is probed on its local port, and a UDP set on SSH', () => {
  const [tcp, udp] = opened(request({ localPort: 8_080 }), request({ protocol: 'udp', localPort: 8_080 }));
  expect([probePort(tcp as RoleEndpoint), probePort(udp as RoleEndpoint)]).toEqual([8_080, 22]);
});

/** Does a random act on the endpoints of three roles. A conflict changes nothing. */
function changed(endpoints: RoleEndpoint[], { below, pick, chance }: Random): RoleEndpoint[] {
  const role = pick(['a', 'b', 'c']);
  const source = pick(['operator', `unit:blog/${role}`, `unit:store/${role}`] as const);
  const port = { role, source, protocol: pick(['tcp', 'udp'] as const), publicPort: pick([22, 80, 443]) };
  const act = below(10);
  if (act === 0) return closeRole(endpoints, role);
  if (act < 4) return closeEndpoint(endpoints, port);
  const result = openEndpoint(endpoints, { ...port, isBalanced: source !== 'operator' || chance(0.3) });
  return 'endpoints' in result ? result.endpoints : endpoints;
}

test('JU-15 over random histories, a port has one role or is in one set, and a role has a port once', () => {
  const faults: RoleEndpoint[][] = [];
  let shared = 0;
  for (let seed = 0; seed < 200; seed += 1) {
    const random = randomOf(seed);
    let endpoints = ['a', 'b', 'c'].flatMap((role) =>
      initialEndpoints(role, { isController: false, isBalanced: true }),
    );
    for (let count = 0; count < 60; count += 1) {
      endpoints = changed(endpoints, random);
      for (const [, sharing] of Map.groupBy(endpoints, ({ protocol, publicPort }) => `${publicPort}/${protocol}`)) {
        if (sharing.length > 1) shared += 1;
        const isOnePerRole = new Set(sharing.map((one) => one.role)).size === sharing.length;
        const isOneSet = sharing.length === 1 || sharing.every(({ set }) => set !== null && set === sharing[0]?.set);
        if (!isOnePerRole || !isOneSet) faults.push(sharing);
      }
    }
  }
  expect(faults).toEqual([]);
  expect(shared).toBeGreaterThan(1_000);
});

describe('JU-20 the ports that hooks of units open and close', () => {
  /** Opens or closes a random port of a random unit. The role `a` has two units. Returns the endpoints and who has what. */
  function actOfUnit(endpoints: RoleEndpoint[], has: ReadonlySet<string>, random: Random) {
    const [unit, role] = random.pick([['blog/0', 'a'] as const, ['store/0', 'a'] as const, ['blog/1', 'b'] as const]);
    const [publicPort, protocol] = [random.pick([80, 443]), random.pick(['tcp', 'udp'] as const)];
    const one = request({ role, publicPort, protocol, source: `unit:${unit}` });
    const key = `${unit} ${publicPort}/${protocol}`;
    if (random.chance(0.4)) {
      return { endpoints: closeEndpoint(endpoints, one), has: new Set([...has].filter((other) => other !== key)) };
    }
    const result = openEndpoint(endpoints, one);
    return 'refusal' in result ? { endpoints, has } : { endpoints: result.endpoints, has: new Set([...has, key]) };
  }

  test('are its endpoints, after any order of acts, and a set has the roles that have the port', () => {
    let closed = 0;
    for (let seed = 0; seed < 50; seed += 1) {
      const random = randomOf(seed);
      let state: ReturnType<typeof actOfUnit> = { endpoints: [], has: new Set() };
      for (let count = 0; count < 30; count += 1) {
        const next = actOfUnit(state.endpoints, state.has, random);
        if (next.endpoints.length < state.endpoints.length) closed += 1;
        state = next;
        for (const unit of ['blog/0', 'store/0', 'blog/1']) {
          const own = [...state.has].filter((key) => key.startsWith(`${unit} `)).map((key) => key.split(' ')[1]);
          expect(openedPorts(state.endpoints, unit).toSorted()).toEqual(own.toSorted());
        }
        const members = [...balancedSets(state.endpoints).values()].flat();
        expect(members).toHaveLength(state.has.size);
      }
    }
    expect(closed).toBeGreaterThan(100);
  });
});
