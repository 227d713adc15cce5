import { redirect } from 'next/navigation';

/** What people come for. */
export default function HomePage(): never {
  redirect('/vms');
}
