import type { ReactNode } from 'react';
import { LiveBanner, TopTools } from './shell.tsx';

/** The bar at the top of a page: what its children say about the place, the tools, and the connection's banner. */
export function TopBar({ children }: { children?: ReactNode }) {
  return (
    <header className="sticky top-0 z-20 border-b border-line-subtle bg-canvas">
      <div className="flex h-(--topbar) min-w-0 items-center gap-2 ps-(--gutter) pe-5 max-sm:pe-1.5">
        {children}
        {/* Invisible until the sibling arrives, so that no tool moves while the browser receives the others. */}
        <div className="ms-auto shrink-0 not-has-[+*]:invisible">
          <TopTools />
        </div>
        <span hidden />
      </div>
      <LiveBanner />
    </header>
  );
}
