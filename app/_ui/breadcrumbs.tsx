import { ChevronRight } from 'lucide-react';
import Link from 'next/link';

export interface Crumb {
  label: string;
  /** URL of the page; absent for the last crumb. */
  href?: string;
  /** Whether the label was chosen by a person and is not translated. */
  isName?: boolean;
}

const translated = ({ isName = false }: Crumb) => (isName ? 'no' : undefined);

/** The path to this page. On narrow pages, only a link to the parent is shown. */
export function Breadcrumbs({ label, crumbs }: { label: string; crumbs: readonly Crumb[] }) {
  const parent = crumbs.length > 1 ? crumbs[crumbs.length - 2] : undefined;
  return (
    <nav aria-label={label} className="min-w-0 flex-1">
      {parent?.href === undefined ? null : (
        <Link
          href={parent.href}
          translate={translated(parent)}
          className="hidden h-10 max-w-full min-w-0 items-center gap-2 text-14 font-medium max-sm:inline-flex"
        >
          <ChevronRight aria-hidden className="size-4 shrink-0 rotate-180 text-ink-3 rtl:rotate-0" />
          <span className="truncate">{parent.label}</span>
        </Link>
      )}
      <ol className={`flex min-w-0 items-center gap-1.5 text-ink-3 ${parent === undefined ? '' : 'max-sm:hidden'}`}>
        {crumbs.map((crumb, index) => (
          <li key={crumb.href ?? crumb.label} className="flex min-w-0 items-center gap-1.5">
            {index === 0 ? null : <ChevronRight aria-hidden className="size-[13px] shrink-0 rtl:rotate-180" />}
            {crumb.href === undefined || index === crumbs.length - 1 ? (
              <span aria-current="page" translate={translated(crumb)} className="truncate font-medium text-ink">
                {crumb.label}
              </span>
            ) : (
              <Link href={crumb.href} translate={translated(crumb)} className="truncate rounded-sm hover:text-ink">
                {crumb.label}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
