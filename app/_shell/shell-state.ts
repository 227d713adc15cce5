'use client';

import { createContext, useContext } from 'react';
import type { Theme } from './theme.ts';

/** What the layout knows and every page's top bar offers to change. */
export interface ShellState {
  languages: readonly string[];
  theme: Theme;
}

export const ShellContext = createContext<ShellState>({ languages: [], theme: 'system' });
export const useShell = (): ShellState => useContext(ShellContext);
