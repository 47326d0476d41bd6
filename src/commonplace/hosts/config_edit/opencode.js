// Commonplace in OpenCode: a brief at the start, recall at the prompt. Made by `commonplace connect opencode`;
// `commonplace disconnect opencode` removes it. It only starts commonplace-hook and hands on what that prints.
// Whatever goes wrong, OpenCode goes on as if this file were not there.
import { spawn } from "node:child_process"

const COMMAND = [] // filled in when this file is made
const MORE = []
const DEADLINE_MS = 5000 // the hook ends itself long before
const MOST_BYTES = 200000

function ask(event, said) {
  return new Promise((resolve) => {
    let child
    let text = ""
    let timer
    const done = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    try {
      const words = [...COMMAND.slice(1), event, "--host", "opencode", ...MORE]
      child = spawn(COMMAND[0], words, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    } catch {
      return done("")
    }
    timer = setTimeout(() => {
      child.kill()
      done("")
    }, DEADLINE_MS)
    child.on("error", () => done(""))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (data) => {
      if (text.length < MOST_BYTES) text += data
    })
    child.on("close", () => {
      try {
        const answer = JSON.parse(text).context
        done(typeof answer === "string" ? answer : "")
      } catch {
        done("")
      }
    })
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...said }))
  })
}

export const Commonplace = async ({ client, directory }) => {
  const briefs = new Map() // per session: the brief, the same bytes at every call of the model
  const compacted = new Set()
  let hidden // the prompts of OpenCode's own agents, which make titles and summaries
  const isHidden = async (system) => {
    if (!client) return false
    hidden ??= client.app.agents().then(
      (answer) => answer.data.filter((agent) => agent.hidden && agent.prompt).map((agent) => agent.prompt),
      () => [],
    )
    const prompts = await Promise.race([hidden, new Promise((resolve) => setTimeout(resolve, DEADLINE_MS, []))])
    return prompts.some((prompt) => system[0]?.startsWith(prompt))
  }
  const getBrief = (session_id) => {
    if (!briefs.has(session_id)) {
      const source = compacted.has(session_id) ? "compact" : "startup"
      briefs.set(session_id, ask("session-start", { session_id, cwd: directory, source }))
    }
    return briefs.get(session_id)
  }
  const safely = (work) => async (input, output) => {
    try {
      await work(input, output)
    } catch {
      // OpenCode goes on without us
    }
  }
  return {
    "experimental.chat.system.transform": safely(async (input, output) => {
      if (!input.sessionID || (await isHidden(output.system))) return
      const brief = await getBrief(input.sessionID)
      if (brief) output.system.push(brief)
    }),
    "chat.message": safely(async (input, output) => {
      const prompt = output.parts
        .filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text)
        .join("\n")
      const last = output.parts[output.parts.length - 1]
      if (!prompt || !last) return
      await getBrief(input.sessionID) // first: what it tells is not recalled
      const text = await ask("prompt", { session_id: input.sessionID, cwd: directory, prompt })
      if (!text) return
      const { sessionID, messageID } = last
      // "ignored" keeps it out of what the title is made from; the next hook shows it to the agent.
      const flags = { synthetic: true, ignored: true, metadata: { commonplace: true } }
      output.parts.push({ id: `${last.id}0`, sessionID, messageID, type: "text", text, ...flags })
    }),
    "experimental.chat.messages.transform": safely(async (input, output) => {
      const show = (part) => (part.metadata?.commonplace ? { ...part, ignored: false } : part)
      output.messages.forEach((message, at) => {
        output.messages[at] = { ...message, parts: message.parts.map(show) }
      })
    }),
    "experimental.session.compacting": safely(async (input, output) => {
      compacted.add(input.sessionID)
      briefs.delete(input.sessionID)
      const text = await ask("pre-compact", { session_id: input.sessionID, cwd: directory })
      if (text) output.context.push(text)
    }),
    event: safely(async ({ event }) => {
      if (event.type === "session.deleted") briefs.delete(event.properties?.info?.id)
    }),
  }
}
