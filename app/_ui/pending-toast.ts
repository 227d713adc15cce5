export interface ToastOptions {
  /** The way back, where there is one. */
  undo?: { label: string; run(): void };
}

/** Said, and not shown yet. */
export interface PendingToast extends ToastOptions {
  text: string;
}
