import { type APIRequestContext, type BrowserContextOptions, expect, request } from '@playwright/test';
import type { Portal } from './portal.ts';

export type Role = 'viewer' | 'operator' | 'publisher' | 'admin';
type StorageState = Awaited<ReturnType<APIRequestContext['storageState']>>;

/**
 * The accounts of one portal: the first admin, and one member per role and choice of namespaces, created when a journey
 * first needs this member.
 */
export class People {
  readonly #portal: Portal;
  readonly #sessions = new Map<string, Promise<StorageState>>();

  constructor(portal: Portal) {
    this.#portal = portal;
  }

  /** Returns the cookies of a member with this role; `namespaces` are those of a publisher. */
  session(role: Role, namespaces: string[] = []): Promise<StorageState> {
    const key = [role, ...namespaces].join(' ');
    const known = this.#sessions.get(key);
    if (known) return known;
    const made = role === 'admin' ? this.#signIn(this.#portal.admin) : this.#join(role, namespaces);
    this.#sessions.set(key, made);
    return made;
  }

  /** Returns context options for a browser in which a member with this role is signed in. */
  async browserOf(role: Role, namespaces: string[] = []): Promise<BrowserContextOptions> {
    return { baseURL: this.#portal.url, storageState: await this.session(role, namespaces) };
  }

  /** Returns a one-time link for joining with this role. */
  async invite(role: Role, namespaces: string[] = []): Promise<string> {
    const admin = await this.#client(await this.session('admin'));
    // In a portal that serves many journeys, the confirmation from the sign-in may have expired.
    await mutate(admin, 'account.confirm', { password: this.#portal.admin.password });
    const invitation = await mutate<{ link: string }>(admin, 'invitations.create', { role, namespaces });
    await admin.dispose();
    return invitation.link;
  }

  /** Invites a member as the admin and joins with the link. */
  async #join(role: Role, namespaces: string[]): Promise<StorageState> {
    const email = `${role}.${this.#sessions.size}@example.org`;
    const name = `${role[0]?.toUpperCase()}${role.slice(1)}`;
    const token = new URL(await this.invite(role, namespaces)).searchParams.get('token');
    const person = await this.#client();
    await mutate(person, 'invitations.redeem', { token, name, email, password: this.#portal.admin.password });
    const state = await person.storageState();
    await person.dispose();
    return state;
  }

  async #signIn(person: { email: string; password: string }): Promise<StorageState> {
    const client = await this.#client();
    const answer = await client.post('/api/auth/sign-in/email', { data: person });
    expect(answer.ok(), await answer.text()).toBe(true);
    const state = await client.storageState();
    await client.dispose();
    return state;
  }

  #client(storageState?: StorageState): Promise<APIRequestContext> {
    return request.newContext({
      baseURL: this.#portal.url,
      extraHTTPHeaders: { origin: this.#portal.url },
      ...(storageState === undefined ? {} : { storageState }),
    });
  }
}

async function mutate<Answer>(client: APIRequestContext, procedure: string, input: unknown): Promise<Answer> {
  const answer = await client.post(`/api/trpc/${procedure}`, { data: { json: input } });
  expect(answer.ok(), `${procedure}: ${await answer.text()}`).toBe(true);
  return (await answer.json()).result.data.json;
}
