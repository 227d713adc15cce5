import { portText, type RoleEndpoint } from '#server/domain/topology-rules/endpoints.ts';
import type { DeploymentSlot } from '#server/domain/topology-rules/words.ts';
import { type CloudProvider, NameTakenError, type ProviderStep } from '../provider.ts';

/**
 * What a call of the fake provider does: succeeds, fails before or after it took effect, or never returns, before or
 * after it took effect, as if the portal’s process had been killed.
 */
export type Fate = 'succeed' | 'failBefore' | 'failAfter' | 'dieBefore' | 'dieAfter' | 'nameTaken';

/** A provider in memory, whose calls can fail. */
export class FakeProvider implements CloudProvider {
  readonly groups = new Set<string>();
  readonly networks = new Set<string>();
  /** The roles of each cloud service. */
  readonly services = new Map<string, Set<string>>();
  /** The deployment in each slot, as the last swap put it. */
  readonly slots = new Map<string, Readonly<Record<DeploymentSlot, string | null>>>();
  /** The endpoints of each role, as `protocol/port`. */
  readonly ports = new Map<string, string[]>();
  /** Names of the groups and networks that calls created. */
  readonly own = new Set<string>();
  readonly calls: string[] = [];
  /** Decides what the next call does. */
  fate: (step: ProviderStep) => Fate | Promise<Fate> = () => 'succeed';
  /** Called when a call never returns. */
  onDeath: () => void = () => {};
  private addresses = 3;

  affinityGroup = (name: string) => this.call('affinityGroup', name, () => this.add(this.groups, name));
  network = (name: string) => this.call('network', name, () => this.add(this.networks, name));

  cloudService = ({ name }: { name: string }) =>
    this.call('cloudService', name, () => {
      if (!this.services.has(name)) this.services.set(name, new Set());
      return { dnsName: `${name}.test`, publicAddress: `public address of ${name}` };
    });

  deployment = (service: string, _deployment: string, _slot: string, { name }: { name: string }) =>
    this.call('deployment', `${service} ${name}`, () => this.addRole(service, name));

  role = (service: string, _deployment: string, { name }: { name: string }) =>
    this.call('role', `${service} ${name}`, () => this.addRole(service, name));

  endpoints = (service: string, _deployment: string, role: string, all: readonly RoleEndpoint[]) =>
    this.call('endpoints', `${service} ${role}`, () => void this.ports.set(role, all.map(portText)));

  swap = (service: string, slots: Readonly<Record<DeploymentSlot, string | null>>) =>
    this.call('swap', service, () => void this.slots.set(service, slots));

  dropRoles = (service: string, _deployment: string, roles: readonly string[]) =>
    this.call('dropRoles', `${service} ${roles.join()}`, () => {
      for (const role of roles) this.services.get(service)?.delete(role);
    });

  dropCloudService = (name: string) => this.call('dropCloudService', name, () => void this.services.delete(name));
  dropNetwork = (name: string) => this.call('dropNetwork', name, () => this.drop(this.networks, name));
  dropAffinityGroup = (name: string) => this.call('dropAffinityGroup', name, () => this.drop(this.groups, name));

  private add(set: Set<string>, name: string): 'created' | 'existed' {
    const existed = set.has(name) && !this.own.has(name);
    set.add(name);
    if (!existed) this.own.add(name);
    return existed ? 'existed' : 'created';
  }

  private drop(set: Set<string>, name: string): void {
    if (this.own.delete(name)) set.delete(name);
  }

  private addRole(service: string, name: string): { assignedAddress: string } {
    const roles = this.services.get(service);
    if (roles === undefined) throw new Error(`there is no cloud service ${service}`);
    roles.add(name);
    this.addresses += 1;
    return { assignedAddress: `10.0.0.${this.addresses}` };
  }

  private async call<T>(step: ProviderStep, what: string, act: () => T): Promise<T> {
    this.calls.push(`${step} ${what}`);
    const fate = await this.fate(step);
    if (fate === 'nameTaken' && step === 'cloudService') throw new NameTakenError(what);
    if (fate === 'failBefore') throw new Error(`${step} failed`);
    if (fate === 'dieBefore') return this.die();
    const result = act();
    if (fate === 'failAfter') throw new Error(`${step} failed`);
    if (fate === 'dieAfter') return this.die();
    return result;
  }

  private die(): Promise<never> {
    this.onDeath();
    return new Promise<never>(() => {});
  }
}
