CREATE UNIQUE INDEX "handlers_spelling" ON "handlers" USING btree (lower("id"));--> statement-breakpoint
CREATE UNIQUE INDEX "publishers_spelling" ON "publishers" USING btree (lower("namespace"));