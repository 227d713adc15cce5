import { redirect } from 'next/navigation';
import { reader } from '#app/_lib/portal.ts';

/** Redirects admins to the members and other readers to their account. */
export default async function SettingsPage() {
  redirect((await reader())?.role === 'admin' ? '/settings/members' : '/settings/account');
}
